"""What reading an output yields: events while it streams, and the message they add up to."""

from typing import Literal

import msgspec


class CallStatus(msgspec.Struct, frozen=True):
    """How a finished call came out.

    Attributes:
        kind: `ok`; `undeclared`: no tool of that name was offered, the call is passed on as written; `invalid`: the
            arguments fail the tool's own schema; `recovered`: damaged, and only one repair was possible.
        message: What is wrong or what was mended; empty for `ok`.
        path: JSON path of the first invalid argument, `$` for the arguments object itself; empty unless `invalid`.
    """

    kind: Literal["ok", "undeclared", "invalid", "recovered"]
    message: str = ""
    path: str = ""


class ReasoningDelta(msgspec.Struct, frozen=True):
    """More reasoning text."""

    text: str


class ContentDelta(msgspec.Struct, frozen=True):
    """More content: text for the user."""

    text: str


class CallStart(msgspec.Struct, frozen=True):
    """A call has begun; its name is complete.

    It counts as a call once its `CallEnd` arrives. A call that the token limit cuts, or that never closes, has none.
    """

    index: int
    name: str


class ArgumentsDelta(msgspec.Struct, frozen=True):
    """More of the JSON text of a call's arguments; all pieces of an ended call join to one JSON object."""

    index: int
    text: str


class CallEnd(msgspec.Struct, frozen=True):
    """A call is complete."""

    index: int
    status: CallStatus


Event = ReasoningDelta | ContentDelta | CallStart | ArgumentsDelta | CallEnd


class ToolCall(msgspec.Struct, frozen=True):
    """One complete call: `arguments` is the JSON text of an object."""

    name: str
    arguments: str
    status: CallStatus


class Message(msgspec.Struct, frozen=True):
    """A whole output, read."""

    reasoning: str
    content: str
    tool_calls: tuple[ToolCall, ...]
    finish_reason: str
    truncated: str | None = None


def collect(events: list[Event], *, finish_reason: str, truncated: str | None) -> Message:
    """Add events up to a message; calls without an end are left out."""
    names: dict[int, str] = {}
    arguments: dict[int, list[str]] = {}
    reasoning: list[str] = []
    content: list[str] = []
    calls: list[ToolCall] = []
    for event in events:
        match event:
            case ReasoningDelta(text):
                reasoning.append(text)
            case ContentDelta(text):
                content.append(text)
            case CallStart(index, name):
                names[index], arguments[index] = name, []
            case ArgumentsDelta(index, text):
                arguments[index].append(text)
            case CallEnd(index, status):
                calls.append(ToolCall(names[index], "".join(arguments[index]), status))
    return Message("".join(reasoning), "".join(content), tuple(calls), finish_reason, truncated)
