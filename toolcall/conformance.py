"""The published suite: the form of its cases, the ways an output is cut, and how a reading is judged.

The cases and their rules are in `tests/conformance/data`. A reading may be anybody's: ours, or another parser's.
"""

import json
import random
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType

from toolcall.admit import same
from toolcall.parser import Parser
from toolcall.status import Message, collect
from toolcall.tools import ToolSet, parse_tools

_SIZES: Final = (1, 1, 2, 3, 4, 7, 13, 40)


class ExpectedCall(msgspec.Struct, frozen=True):
    """A call that an output must be read as; the status is compared where both sides have one."""

    name: str
    arguments: dict[str, Any]
    status: str | None = None


class Expectation(msgspec.Struct, frozen=True):
    """The right reading of an output; a field that is absent is not compared."""

    reasoning: str | UnsetType | None = UNSET
    content: str | UnsetType | None = UNSET
    tool_calls: tuple[ExpectedCall, ...] | UnsetType = UNSET
    finish_reason: str | UnsetType = UNSET


class Case(msgspec.Struct, frozen=True):
    """A model's output and its request.

    Attributes:
        thinking: The prompt opened `<think>`, so that the output starts inside reasoning.
        prompt_tail: The end of the prompt, which decides instead of `thinking` where it is given.
        output: What the model wrote, end token left out.
        engine_finish: The engine's finish reason.
    """

    id: str = ""
    kind: str = ""
    tools: list[dict[str, Any]] | None = None
    tool_choice: str | dict[str, Any] | None = None
    parallel_tool_calls: bool | None = None
    thinking: bool = False
    prompt_tail: str | None = None
    output: str = ""
    engine_finish: str = "stop"
    expect: Expectation = Expectation()
    why: str = ""
    source: str = ""

    @property
    def reasoning(self) -> bool:
        """Whether the output starts inside reasoning."""
        return self.thinking if self.prompt_tail is None else self.prompt_tail.endswith("<think>")

    def toolset(self) -> ToolSet:
        """Return the request's tools, read.

        Raises:
            SchemaError: A tool or the choice cannot be used.
        """
        return parse_tools(self.tools, self.tool_choice, self.parallel_tool_calls)


class ReadCall(msgspec.Struct, frozen=True):
    """A call as a parser gave it: `arguments` is the JSON text, whatever it is worth."""

    name: str
    arguments: str
    status: str | None = None


class Reading(msgspec.Struct, frozen=True):
    """What a parser made of an output; a finish reason that the parser does not tell is None and not compared."""

    reasoning: str
    content: str
    tool_calls: tuple[ReadCall, ...]
    finish_reason: str | None = None


def load_cases(text: str) -> tuple[Case, ...]:
    """Read cases, a JSON object a line; lines end at a line feed only, since values hold other separators.

    Raises:
        msgspec.ValidationError: A line is no case.
    """
    return tuple(msgspec.json.decode(line, type=Case) for line in text.split("\n") if line.strip())


def pieces(text: str, chunks: str) -> Iterator[str]:
    """Cut a text: `whole`, `chars`, or a seed for random pieces of 1 to 40 characters, the same for the same seed."""
    if chunks == "whole":
        yield text
        return
    rng = random.Random(chunks)  # noqa: S311 - where a text is cut must be the same every time.
    start = 0
    while start < len(text):
        size = 1 if chunks == "chars" else rng.choice(_SIZES)
        yield text[start : start + size]
        start += size


def read(case: Case, output: Iterable[str]) -> Message:
    """Read an output, in pieces, by this library's parser.

    Raises:
        SchemaError: A tool or the choice cannot be used.
    """
    parser = Parser(case.toolset(), reasoning=case.reasoning)
    events = [event for piece in output for event in parser.feed(piece)]
    events += parser.finish(case.engine_finish)
    return collect(events, finish_reason=parser.finish_reason, truncated=parser.truncated)


def reading(message: Message) -> Reading:
    """Return this library's reading in the form that every parser's is judged in."""
    calls = tuple(ReadCall(call.name, call.arguments, call.status.kind) for call in message.tool_calls)
    return Reading(message.reasoning, message.content, calls, message.finish_reason)


def differences(case: Case, found: Reading) -> list[str]:
    """Return the fields in which a reading is not what the case expects; empty when it is right."""
    expect = case.expect
    # How text joins at the place of a call that was taken out is nobody's promise.
    loose = bool(expect.tool_calls) or case.engine_finish == "length"
    wrong = []
    if expect.reasoning is not UNSET and _text(expect.reasoning) != _text(found.reasoning):
        wrong.append("reasoning")
    if expect.content is not UNSET and _text(expect.content, loose=loose) != _text(found.content, loose=loose):
        wrong.append("content")
    if expect.finish_reason is not UNSET and found.finish_reason not in {None, expect.finish_reason}:
        wrong.append("finish_reason")
    if expect.tool_calls is not UNSET and not _same_calls(expect.tool_calls, found.tool_calls):
        wrong.append("tool_calls")
    return wrong


def _text(text: str | None, *, loose: bool = False) -> str:
    trimmed = (text or "").strip()
    return re.sub(r"\s+", " ", trimmed) if loose else trimmed


def _same_calls(expected: tuple[ExpectedCall, ...], found: tuple[ReadCall, ...]) -> bool:
    return len(expected) == len(found) and all(map(_same_call, expected, found))


def _same_call(expected: ExpectedCall, found: ReadCall) -> bool:
    if expected.name != found.name:
        return False
    if expected.status is not None and found.status not in {None, expected.status}:
        return False
    return same(expected.arguments, arguments_of(found))


def arguments_of(call: ReadCall) -> dict[str, Any] | None:
    """Return the arguments of a call: None unless they are one JSON object, no key repeated, no NaN or Infinity."""
    try:
        arguments = json.loads(call.arguments, object_pairs_hook=_unrepeated, parse_constant=_refuse)
    except ValueError:
        return None
    return arguments if isinstance(arguments, dict) else None


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    built = dict(pairs)
    if len(built) != len(pairs):
        raise ValueError("a key is repeated")
    return built


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")
