"""BFCL's answers, written in GLM's form: the tag admits them and the parser gives them back."""

import functools
import json
from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest
from jsonschema import ValidationError

from tests.conformance import bfcl
from tests.toolcall.glm_matcher import compile_tag, refused_at
from toolcall import SchemaError, build_tag, parse, parse_tools, render_call, validate
from toolcall.admit import same
from toolcall.conformance import ReadCall, arguments_of

GROUPS = {**{category: (category,) for category in bfcl.SINGLE_TURN}, "multi_turn": bfcl.MULTI_TURN}

COUNTS = {
    "simple_python": (753, 747),
    "simple_java": (105, 95),
    "simple_javascript": (55, 46),
    "multiple": (427, 426),
    "parallel": (972, 969),
    "parallel_multiple": (1073, 1057),
    "live_simple": (426, 367),
    "live_multiple": (1983, 1583),
    "live_parallel": (71, 70),
    "live_parallel_multiple": (92, 87),
    "multi_turn": (701, 700),
}
"""Argument objects, each counted once for the same function, and how many of them are valid."""

UNUSABLE = {
    "live_simple_71-35-0": "a list's enum holds the values of its items",
    "live_irrelevance_428-103-0": "a list's enum holds the values of its items",
    "live_relevance_8-8-0": "an integer's enum holds strings",
}
"""Requests with a tool that no arguments satisfy: a required property contradicts itself."""

REFUSED = {
    "parallel_multiple_12": (1, "the function has no parameter `permeability`"),
    "parallel_multiple_26": (1, "the function has no parameter `type`"),
    "live_multiple_862-181-3": (1, "the function has no parameter `journey_start_time`"),
    "live_multiple_189-83-0": (1, "its `data` lists `param1` and `param2`, not `name` and `email`"),
}
"""Valid argument objects that the tag refuses, how many and why. Draft 7 allows undeclared members; BFCL does not."""

OTHERWISE_READ = {
    "simple_java_29": ("value", "10"),
    "simple_java_30": ("value", "42"),
    "simple_java_62": ("from", "20.5"),
    "simple_java_94": ("recursive", "null"),
    "simple_javascript_43": ("error", "null"),
}
"""Strings of type `any` that are JSON: GLM's form writes `42` the string and `42` the number alike."""

FAULTS = {
    "type: null": 339,
    "enum: null": 34,
    "enum: a string": 56,
    "enum: something else": 27,
    "type: a string": 46,
    "type: something else": 2,
    "required: something else": 1,
    "format: a string": 6,
}
"""How answers break their own schema: the keyword, and what stands there."""


@dataclass(frozen=True)
class Verdict:
    """What became of one argument object of an answer.

    Attributes:
        fault: How it breaks its own schema; None when it is valid.
        reported: Whether the check after the call reports it.
        admitted: Whether the tag admits the call.
        read: The arguments that a call of status `ok` was read with; None where that was not the outcome.
    """

    entry: str
    arguments: dict[str, Any]
    fault: str | None
    reported: bool
    admitted: bool
    read: dict[str, Any] | None

    @property
    def returned(self) -> bool:
        return self.read is not None and same(self.read, self.arguments)


@dataclass(frozen=True)
class Outcome:
    """The verdicts of a group, and the entries whose calls, one behind the other, are not admitted and read back."""

    verdicts: tuple[Verdict, ...]
    broken: tuple[str, ...]

    def valid(self) -> list[Verdict]:
        return [verdict for verdict in self.verdicts if verdict.fault is None]


class Request:
    """Tools on offer, their tag compiled."""

    def __init__(self, tools: list[dict[str, Any]]) -> None:
        self.tools = parse_tools(tools)
        tag = build_tag(self.tools, reasoning="none")
        assert tag is not None
        self._grammar = compile_tag(tag)
        self._judges = {tool["function"]["name"]: bfcl.judge(tool["function"]["parameters"]) for tool in tools}

    def admits(self, text: str) -> bool:
        return refused_at(self._grammar, text) is None

    def read(self, text: str) -> list[tuple[str, dict[str, Any] | None]]:
        """The names and arguments of the calls; no arguments where the status is not `ok`."""
        calls = parse(text, self.tools, reasoning=False).tool_calls
        return [
            (call.name, arguments_of(ReadCall(call.name, call.arguments)) if call.status.kind == "ok" else None)
            for call in calls
        ]

    def judge(self, entry: str, name: str, arguments: dict[str, Any], *, newlines: bool) -> Verdict:
        text = render_call(name, arguments, newlines=newlines)
        errors = sorted(self._judges[name].iter_errors(arguments), key=lambda error: error.json_path)
        return Verdict(
            entry,
            arguments,
            fault=described(errors[0]) if errors else None,
            reported=bool(validate(self.tools, name, arguments)),
            admitted=self.admits(text),
            read=next((read for called, read in self.read(text) if called == name), None),
        )


@functools.lru_cache(maxsize=32)
def request(encoded: str) -> Request:
    """A request's tools, compiled; entries of many turns share a few."""
    return Request(json.loads(encoded))


def described(error: ValidationError) -> str:
    kinds = {type(None): "null", str: "a string"}
    return f"{error.validator}: {kinds.get(type(error.instance), 'something else')}"


@functools.cache
def outcome(group: str) -> Outcome:
    """Judge every argument object once for the same function, in GLM's two layouts in turn."""
    judged: dict[tuple[str, str], Verdict] = {}
    broken: list[str] = []
    usable = (e for category in GROUPS[group] for e in bfcl.answered(category) if e.id not in UNUSABLE)
    for entry in usable:
        asked = request(json.dumps(entry.tools))
        functions = {tool["function"]["name"]: json.dumps(tool) for tool in entry.tools}
        calls = []
        for answer in entry.answers:
            for arguments in answer.objects:
                key = (functions[answer.name], json.dumps(arguments))
                if key not in judged:
                    judged[key] = asked.judge(entry.id, answer.name, arguments, newlines=len(judged) % 2 > 0)
            first = judged[functions[answer.name], json.dumps(answer.objects[0])]
            if first.admitted and first.returned:
                calls.append((answer.name, answer.objects[0]))
        text = "".join(render_call(name, arguments) for name, arguments in calls)
        if not asked.admits(text) or asked.read(text) != calls:
            broken.append(entry.id)
    return Outcome(tuple(judged.values()), tuple(broken))


each_group = pytest.mark.parametrize("group", GROUPS)


@each_group
def test_valid_arguments_are_admitted(group: str) -> None:
    valid = outcome(group).valid()
    assert (len(outcome(group).verdicts), len(valid)) == COUNTS[group]
    refused = Counter(verdict.entry for verdict in valid if not verdict.admitted)
    assert refused == {entry: count for entry, (count, _) in REFUSED.items() if entry in names(valid)}


def test_the_tag_refuses_at_most_one_valid_object_in_a_thousand() -> None:
    assert sum(count for count, _ in REFUSED.values()) * 1000 <= sum(valid for _, valid in COUNTS.values())


def names(verdicts: list[Verdict]) -> set[str]:
    return {verdict.entry for verdict in verdicts}


@each_group
def test_valid_arguments_are_read_back_equal(group: str) -> None:
    valid = outcome(group).valid()
    assert not [verdict for verdict in valid if verdict.reported or verdict.read is None]
    otherwise = {verdict.entry: verdict.arguments for verdict in valid if not verdict.returned}
    assert otherwise.keys() == OTHERWISE_READ.keys() & names(valid)
    for entry, arguments in otherwise.items():
        key, value = OTHERWISE_READ[entry]
        assert arguments[key] == value


@each_group
def test_the_calls_of_an_answer_are_admitted_and_read_back_together(group: str) -> None:
    assert not outcome(group).broken


@each_group
def test_arguments_that_break_their_schema_never_pass(group: str) -> None:
    for verdict in outcome(group).verdicts:
        if verdict.fault == "format: a string":
            # The check after the call takes formats for annotations.
            assert not verdict.admitted, verdict
        elif verdict.fault is not None:
            assert verdict.reported, verdict
            assert not verdict.returned, verdict


def test_answers_break_their_schemas_in_these_ways() -> None:
    faults = Counter(verdict.fault for group in GROUPS for verdict in outcome(group).verdicts if verdict.fault)
    assert faults == FAULTS


def test_every_other_definition_makes_a_tag() -> None:
    answered = [entry for category in bfcl.SINGLE_TURN for entry in bfcl.answered(category)]
    others = list(bfcl.unanswered())
    assert sum(len(entry.tools) for entry in [*answered, *others]) == 9476
    done = {json.dumps(entry.tools) for entry in answered if entry.id not in UNUSABLE}
    rest = {json.dumps(entry.tools): entry.id for entry in [*answered, *others] if entry.tools}
    assert {name for encoded, name in rest.items() if encoded not in done and not usable(encoded)} == UNUSABLE.keys()


def usable(encoded: str) -> bool:
    try:
        request(encoded)
    except SchemaError:
        return False
    return True
