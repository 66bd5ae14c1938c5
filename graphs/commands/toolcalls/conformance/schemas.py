"""The suite's schemas: valid argument objects are admitted and read back, invalid ones are refused."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from graphs.commands.toolcalls.conformance.suite import SchemaCase
from graphs.commands.toolcalls.matcher import compile_tag, refused_at
from toolcall import Message, SchemaError, ToolSet, build_tag, parse, parse_tools, render_call, validate
from toolcall.admit import same
from toolcall.conformance import arguments_of, reading


class SchemaReport(msgspec.Struct, frozen=True):
    """What became of the argument objects.

    Attributes:
        tools: How many tools.
        valid: Valid objects; each was tried in both layouts.
        invalid: Invalid objects that can be told from valid ones once they are written.
        refused: Those of them that the tag refuses.
        checked_after: Those that fail only keywords which the tag leaves open, and were reported after the call.
        wrong: What is wrong with each object that came out otherwise than it must.
    """

    tools: int
    valid: int
    invalid: int
    refused: int
    checked_after: int
    wrong: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"Schemas: {self.tools} tools; of {self.valid} valid argument objects, each in both layouts, and"
            f" {self.invalid} invalid ones {len(self.wrong)} came out wrong. Of the invalid ones the tag refused"
            f" {self.refused}; {self.checked_after} fail only keywords that are checked after the call, and did."
        )


class _Offer(NamedTuple):
    id: str
    name: str
    tools: ToolSet
    tag: dict[str, Any] | None

    def admits(self, text: str) -> bool:
        return self.tag is None or refused_at(compile_tag(self.tag), text) is None


def judge_schemas(cases: Sequence[SchemaCase]) -> SchemaReport:
    """Try every argument object against the tag of its tool, and read it back."""
    told_apart = [_told_apart(case) for case in cases]
    outcomes = [outcome for case in cases for outcome in _judge(case)]
    return SchemaReport(
        tools=len(cases),
        valid=sum(len(case.valid) for case in cases),
        invalid=sum(map(len, told_apart)),
        refused=outcomes.count(_REFUSED),
        checked_after=outcomes.count(_CHECKED_AFTER),
        wrong=tuple(outcome for outcome in outcomes if outcome not in _RIGHT),
    )


_REFUSED, _CHECKED_AFTER = _RIGHT = ("refused", "checked after")


def _told_apart(case: SchemaCase) -> list[dict[str, Any]]:
    return [each for index, each in enumerate(case.invalid) if index not in case.wire_ambiguous]


def _judge(case: SchemaCase) -> list[str]:
    try:
        tools = parse_tools([case.tool])
        offer = _Offer(case.id, tools.tools[0].name, tools, build_tag(tools, reasoning="none"))
        outcomes = [problem for arguments in case.valid for problem in _valid(offer, arguments)]
        return outcomes + [_invalid(offer, arguments) for arguments in _told_apart(case)]
    except (SchemaError, RuntimeError) as error:
        # xgrammar raises the latter where it cannot compile a tag.
        return [f"{case.id}: {str(error).strip()}"]


def _valid(offer: _Offer, arguments: dict[str, Any]) -> list[str]:
    problems = []
    for newlines in (False, True):
        text = render_call(offer.name, arguments, newlines=newlines)
        if not offer.admits(text):
            problems.append(f"{offer.id}: valid, and the tag refuses {text}")
        elif not _reads_back(parse(text, offer.tools, reasoning=False), arguments):
            problems.append(f"{offer.id}: not read back equal: {text}")
    return problems


def _reads_back(message: Message, arguments: dict[str, Any]) -> bool:
    if [call.status.kind for call in message.tool_calls] != ["ok"]:
        return False
    (call,) = reading(message).tool_calls
    return same(arguments_of(call), arguments)


def _invalid(offer: _Offer, arguments: dict[str, Any]) -> str:
    text = render_call(offer.name, arguments)
    if not offer.admits(text):
        return _REFUSED
    left = {each.keyword for each in offer.tools.tools[0].remainder}
    # A union fails by its own keyword, whichever keyword its branches fail.
    open_keywords = left | {"anyOf", "oneOf"} if left else left
    failed = {problem.keyword for problem in validate(offer.tools, offer.name, arguments)}
    if not failed <= open_keywords:
        return f"{offer.id}: invalid, and the tag admits {text}"
    if [call.status.kind for call in parse(text, offer.tools, reasoning=False).tool_calls] != ["invalid"]:
        return f"{offer.id}: invalid, and not reported after the call: {text}"
    return _CHECKED_AFTER
