"""Finding structure in text that may stop anywhere: every question can be answered "not yet"."""

import enum
import re
from collections.abc import Collection
from typing import Final

from toolcall import markers as m

LONGEST_NAME: Final = 256
"""Characters of the longest tool name that is read as one."""

LONGEST_KEY: Final = 1024
"""Characters of the longest argument key that is read as one."""

_LONGEST_SPACE: Final = 64
"""Most whitespace looked past between two markers."""

_NAME: Final = re.compile(rf"[A-Za-z_][\w.:/-]{{0,{LONGEST_NAME - 1}}}")

TEXT_MARKS: Final = re.compile(f"{m.CALL}|{m.THINK}|{m.THINK_END}")
"""What may end plain content or reasoning."""

_MARKER: Final = re.compile("|".join(m.ALL))
LONGEST_MARKER: Final = max(map(len, m.ALL))
_SPACE: Final = re.compile(rf"\s{{0,{_LONGEST_SPACE}}}+")

CUT_MARKERS: Final = frozenset(marker[:length] for marker in m.ALL for length in range(len(marker)))
"""Every marker cut short, the empty text among them."""

VALUE_MARKS: Final = re.compile(f"{m.VALUE_END}|{m.CALL}|{m.CALL_END}|{m.THINK_END}")
"""What may matter inside a value."""

# Possessive, so that a value is crossed once whatever it holds.
_JSON_OUTSIDE: Final = re.compile(r'(?:[^"<]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)
_JSON_INSIDE: Final = re.compile(r"(?:[^\"\\]++|\\.)*+", re.DOTALL)


class Found(enum.Enum):
    """The answer to "what stands here?"."""

    KEY = enum.auto()
    """The next key."""
    END = enum.auto()
    """The end of the call."""
    OTHER = enum.auto()
    """Something else."""
    UNKNOWN = enum.auto()
    """Too little text to tell."""


def is_name(text: str) -> bool:
    """Whether a text could be the name of a tool that was not offered."""
    return _NAME.fullmatch(text) is not None


def marker_at(text: str, at: int) -> str | None:
    """The marker at a position: None when there is none, and empty when it may be one that is cut short."""
    found = _MARKER.match(text, at)
    if found is not None:
        return found.group()
    return "" if len(text) - at < LONGEST_MARKER and text[at:] in CUT_MARKERS else None


def cut_marker(text: str, start: int) -> int:
    """Where a marker that is cut short begins, at the end of the text; the text's length when there is none."""
    at = text.rfind("<", max(start, len(text) - LONGEST_MARKER + 1))
    return at if at >= 0 and text[at:] in CUT_MARKERS else len(text)


def skip_space(text: str, at: int) -> int:
    """The first position from `at` on that is not whitespace, within reach."""
    found = _SPACE.match(text, at)
    return found.end() if found else at


def after_value(text: str, at: int, keys: Collection[str], *, final: bool) -> Found:
    """What follows a `</arg_value>` that ends at this position.

    A real end of value is followed by the next key or by the end of the call; anything else makes it part of the value.

    Args:
        text: The text.
        at: Where the marker ends.
        keys: Declared keys, one of which may lack its `<arg_key>`.
        final: No more text will come.
    """
    unknown = Found.OTHER if final else Found.UNKNOWN
    here = skip_space(text, at)
    marker = marker_at(text, here) if here < len(text) else ""
    if marker == m.CALL_END:
        return Found.END
    if marker == "":
        return unknown
    if marker == m.KEY:
        return _key_ahead(text, here + len(m.KEY), unknown)
    return Found.OTHER if marker is not None else _bare_key_ahead(text, here, keys, unknown)


def _key_ahead(text: str, at: int, unknown: Found) -> Found:
    """Whether a whole key stands here, behind its `<arg_key>`."""
    stop = text.find("<", at, at + LONGEST_KEY)
    if stop < 0:
        return unknown if len(text) - at < LONGEST_KEY else Found.OTHER
    closer = marker_at(text, stop)
    if closer == "":
        return unknown
    return Found.KEY if stop > at and closer in (m.KEY_END, m.VALUE) else Found.OTHER


def _bare_key_ahead(text: str, at: int, keys: Collection[str], unknown: Found) -> Found:
    """Whether a declared key stands here without its `<arg_key>`."""
    if text[at].isspace():
        return Found.OTHER
    stop = text.find("<", at, at + LONGEST_KEY)
    if stop < 0:
        return unknown if len(text) - at < LONGEST_KEY and _starts_key(text[at:], keys) else Found.OTHER
    if text[at:stop].strip() not in keys:
        return Found.OTHER
    closer = marker_at(text, stop)
    if closer == "":
        return unknown
    return Found.KEY if closer == m.KEY_END else Found.OTHER


def _starts_key(candidate: str, keys: Collection[str]) -> bool:
    return any(key.startswith(candidate.strip()) for key in keys)


_NESTED: Final = (
    (re.compile(re.escape(m.CALL)), m.CALL),
    (re.compile(rf"\s{{0,{_LONGEST_SPACE}}}+[^\s<>]{{1,{LONGEST_NAME}}}+\s{{0,{_LONGEST_SPACE}}}+"), None),
    (re.compile(re.escape(m.KEY)), m.KEY),
    (re.compile(rf"[^<]{{1,{LONGEST_KEY}}}+"), None),
    (re.compile(re.escape(m.KEY_END)), m.KEY_END),
    (re.compile(rf"\s{{0,{_LONGEST_SPACE}}}+"), None),
    (re.compile(re.escape(m.VALUE)), m.VALUE),
)


def nested_call(text: str, at: int, *, final: bool) -> int | None:
    """Where the opening of a whole call, up to its first value, ends.

    Args:
        text: The text.
        at: Where a `<tool_call>` begins.
        final: No more text will come.

    Returns:
        The position behind its first `<arg_value>`; -1 when no such opening stands here; None when too little is known.
    """
    for pattern, marker in _NESTED:
        found = pattern.match(text, at)
        if found is None:
            rest = text[at : at + _LONGEST_SPACE]
            cut = at + len(rest) == len(text) and (not rest.strip() if marker is None else marker.startswith(rest))
            return None if cut and not final else -1
        at = found.end()
    return at


def skip_json(text: str, at: int, *, inside: bool) -> tuple[int, bool]:
    """Cross JSON text up to a `<` that stands outside its strings.

    Args:
        text: The text.
        at: Where to start.
        inside: Whether that is inside a string.

    Returns:
        Where it stopped, at a `<`, at a backslash that ends the text, or at the end; and whether inside a string.
    """
    while at < len(text):
        if inside:
            at = _end(_JSON_INSIDE, text, at)
            if at == len(text) or text[at] != '"':
                return at, True
            at, inside = at + 1, False
        at = _end(_JSON_OUTSIDE, text, at)
        if at == len(text) or text[at] == "<":
            return at, False
        at, inside = at + 1, True
    return at, inside


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return at if found is None else found.end()
