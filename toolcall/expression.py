"""ECMA 262 regular expressions, read as far as they are regular.

Without flags, as JSON Schema has them. Not read, because they are not regular, not one thing to all validators, or not
worth their while: look-around, back references, word boundaries, control and property escapes, `u` escapes of
surrogates or in braces, nested classes, and what only Annex B of ECMA 262 gives a meaning to.
"""

import re
from typing import Final

import msgspec

from toolcall import charset as c

_CLASSES: Final = {
    "d": c.of("0123456789"),
    "w": ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)),
    "s": (
        (0x09, 0x0D), (0x20, 0x20), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029),
        (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF),
    ),
}  # fmt: skip
_CONTROLS: Final = {"t": 0x09, "n": 0x0A, "v": 0x0B, "f": 0x0C, "r": 0x0D}
_LINE_ENDS: Final = c.of("\n\r\u2028\u2029")

_QUANTIFIER: Final = re.compile(r"(?:([*+?])|\{(\d{1,4})(,(\d{1,4})?)?\})\??", re.ASCII)
_GROUP: Final = re.compile(r"\((?:\?:|\?<[A-Za-z_]\w*>|(?!\?))", re.ASCII)
_CODE: Final = re.compile(r"x([0-9a-fA-F]{2})|u(?![dD][89a-fA-F])([0-9a-fA-F]{4})")
_BOUNDS: Final = {"*": (0, None), "+": (1, None), "?": (0, 1)}


class UnreadableError(ValueError):
    """A pattern lies outside what is read here."""


class Characters(msgspec.Struct, frozen=True):
    """Any one character of a set."""

    ranges: c.Ranges


class Sequence(msgspec.Struct, frozen=True):
    """One part after another."""

    parts: tuple["Expression", ...]


class Choice(msgspec.Struct, frozen=True):
    """Any one of several."""

    options: tuple["Expression", ...]


class Repeat(msgspec.Struct, frozen=True):
    """A part again and again; `most` None for no limit."""

    part: "Expression"
    least: int
    most: int | None


class Edge(msgspec.Struct, frozen=True):
    """The start of the text, or its end."""

    end: bool


Expression = Characters | Sequence | Choice | Repeat | Edge


def read(pattern: str) -> Expression:
    """Read a pattern.

    Raises:
        UnreadableError: It is not one that is read here.
    """
    reader = _Reader(pattern)
    expression = reader.choice()
    if reader.at < len(pattern):
        raise UnreadableError(f"{pattern!r}: unbalanced at {reader.at}")
    return expression


class _Reader:
    """A recursive descent through one pattern."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0

    def choice(self) -> Expression:
        """Alternatives, up to a closing parenthesis or the end."""
        options = [self._sequence()]
        while self._takes("|"):
            options.append(self._sequence())
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def _sequence(self) -> Expression:
        parts: list[Expression] = []
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            parts.append(self._repeated(self._atom()))
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def _repeated(self, part: Expression) -> Expression:
        found = _QUANTIFIER.match(self.pattern, self.at)
        if found is None:
            return part
        if isinstance(part, Edge):
            raise self._unreadable("a repeated anchor")
        self.at = found.end()
        symbol, low, comma, high = found.groups()
        if symbol:
            return Repeat(part, *_BOUNDS[symbol])
        least, most = int(low), int(high) if high else None if comma else int(low)
        if most is not None and most < least:
            raise self._unreadable("bounds out of order")
        return Repeat(part, least, most)

    def _atom(self) -> Expression:
        character = self.pattern[self.at]
        if character == "(":
            return self._group()
        self.at += 1
        match character:
            case "^" | "$":
                return Edge(end=character == "$")
            case ".":
                return Characters(c.complement(_LINE_ENDS))
            case "[":
                return Characters(self._class())
            case "\\":
                return Characters(self._escape())
            case "*" | "+" | "?" | "{" | "}" | "]":
                raise self._unreadable("a symbol out of place")
        return Characters(c.of(character))

    def _group(self) -> Expression:
        opened = _GROUP.match(self.pattern, self.at)
        if opened is None:
            raise self._unreadable("a group of another kind")
        self.at = opened.end()
        inner = self.choice()
        if not self._takes(")"):
            raise self._unreadable("an open group")
        return inner

    def _class(self) -> c.Ranges:
        negated = self._takes("^")
        found: list[tuple[int, int]] = []
        while not self._takes("]"):
            low = self._member()
            if self._peek(2) in ("-]", "-") or not self._takes("-"):
                found.extend(low)
                continue
            high = self._member()
            if c.size(low) != 1 or c.size(high) != 1 or low[0][0] > high[0][0]:
                raise self._unreadable("a range without two ends")
            found.append((low[0][0], high[0][0]))
        ranges = c.charset(found)
        return c.complement(ranges) if negated else ranges

    def _member(self) -> c.Ranges:
        character = self._peek(1)
        # Some validators take these for nested classes and operations on classes.
        if not character or character == "[" or self._peek(2) in ("&&", "--", "~~"):
            raise self._unreadable("a class of another kind")
        self.at += 1
        if character == "\\":
            return c.of("\b") if self._takes("b") else self._escape()
        return c.of(character)

    def _escape(self) -> c.Ranges:
        code = _CODE.match(self.pattern, self.at)
        if code is not None:
            self.at = code.end()
            return c.of(chr(int(code[1] or code[2], 16)))
        letter = self._peek(1)
        self.at += 1
        if letter.lower() in _CLASSES:
            ranges = _CLASSES[letter.lower()]
            return ranges if letter.islower() else c.complement(ranges)
        if letter in _CONTROLS:
            return c.of(chr(_CONTROLS[letter]))
        if not letter or letter.isalnum() or letter == "_" or not letter.isascii():
            raise self._unreadable("an escape of another kind")
        return c.of(letter)

    def _peek(self, count: int) -> str:
        return self.pattern[self.at : self.at + count]

    def _takes(self, text: str) -> bool:
        found = self.pattern.startswith(text, self.at)
        self.at += len(text) * found
        return found

    def _unreadable(self, problem: str) -> UnreadableError:
        return UnreadableError(f"{self.pattern!r}: {problem} at {self.at}")
