"""Whether a reading leaves nothing out: every character of an output is text, markup, layout or part of a call.

The output is walked along the events of its reading, all places at once where more than one is possible. Between texts
only whitespace and reasoning tags may be passed over; a call passes over its own text, in which its name and all its
strings must stand.
"""

import json
from collections.abc import Iterable
from typing import Any

from toolcall import Parser, markers
from toolcall.conformance import Case
from toolcall.status import ArgumentsDelta, CallEnd, CallStart, ContentDelta, Event, ReasoningDelta

_SILENT = (markers.THINK, markers.THINK_END)


def unaccounted(case: Case) -> str | None:
    """What of a case's output its reading lost, moved or made up; None when it is all there."""
    parser = Parser(case.toolset(), reasoning=case.reasoning)
    events = parser.feed(case.output) + parser.finish(case.engine_finish)
    walk = _Walk(case, drops=parser.dropped > 0)
    names: dict[int, str] = {}
    arguments: dict[int, str] = {}
    for event in _in_order(events):
        match event:
            case ReasoningDelta(text) | ContentDelta(text):
                walk.text(text)
            case CallStart(index, name):
                names[index], arguments[index] = name, ""
            case ArgumentsDelta(index, text):
                arguments[index] += text
            case CallEnd(index, _):
                walk.call(names[index], json.loads(arguments[index]))
        if not walk.places:
            return f"no place for {event}"
    rest = parser.truncated or ""
    walk.text(rest)
    return None if len(case.output) in walk.passed() else f"not all was read, {rest!r} given back as cut"


def _in_order(events: list[Event]) -> Iterable[Event]:
    """The events without calls that never ended: those are given back as text, or cut."""
    ended = {event.index for event in events if isinstance(event, CallEnd)}
    return (event for event in events if not isinstance(event, CallStart | ArgumentsDelta) or event.index in ended)


class _Walk:
    """Where in an output the events so far may have led."""

    def __init__(self, case: Case, *, drops: bool) -> None:
        self.places = {0}
        self._text = case.output
        self._drops = drops
        self._names = tuple(tool.name for tool in case.toolset().tools)
        self._ends = [
            at + len(markers.CALL_END) for at in range(len(self._text)) if self._text.startswith(markers.CALL_END, at)
        ]

    def text(self, text: str) -> None:
        for character in text:
            self.places = {at + 1 for at in self.passed() if self._text.startswith(character, at)}

    def call(self, name: str, arguments: dict[str, Any]) -> None:
        strings = [value for value in (name, *arguments.values()) if isinstance(value, str)]
        self.places = {
            end
            for at in self.passed()
            if self._text.startswith((markers.CALL, *self._names), at)
            for end in self._ends
            if end > at
            and all(string in self._text[at:end] or _spelled(string, self._text[at:end]) for string in strings)
        }

    def passed(self) -> set[int]:
        """The places, and those behind what says nothing there."""
        waiting, known = list(self.places), set(self.places)
        while waiting:
            at = waiting.pop()
            silent = [at + len(marker) for marker in _SILENT if self._text.startswith(marker, at)]
            if self._text[at : at + 1].isspace():
                silent.append(at + 1)
            if self._drops and self._text.startswith(markers.CALL, at):
                silent += [end for end in self._ends if end > at]
            waiting += [place for place in silent if place not in known]
            known.update(silent)
        return known


def _spelled(string: str, raw: str) -> bool:
    """Whether a string stands in the text as JSON, as in a JSON object in place of the arguments."""
    return any(json.dumps(string, ensure_ascii=ascii_only)[1:-1] in raw for ascii_only in (False, True))
