"""How JSON writes a character with a backslash, as xgrammar EBNF."""

from typing import Final

from toolcall import charset as c
from toolcall.digits import either

HEX: Final = "[0-9a-fA-F]"
SHORT: Final = {'"': '"', "\\": "\\", "/": "/", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}
"""Characters with an escape of their own, and its letter."""

ESCAPED: Final = c.charset([(0, 0x1F), *c.of("\"\\/&'<>"), (0x7F, c.LAST)])
"""Characters that encoders write with a backslash, or some of them do: JSON's own, HTML's and whatever is not ASCII."""

_PLANE: Final = ((0, 0xD7FF), (0xE000, 0xFFFF))
_BEYOND: Final = ((0x10000, c.LAST),)
_FULL: Final = 0x3FF


def code_units(ranges: c.Ranges) -> list[str]:
    r"""Expressions for what follows `\u` in the escapes of these characters, in UTF-16."""
    options = [_between(f"{low:04x}", f"{high:04x}") for low, high in c.meet(ranges, _PLANE)]
    for low, high in c.meet(ranges, _BEYOND):
        options += _pairs(low - 0x10000, high - 0x10000)
    return options


def _pairs(low: int, high: int) -> list[str]:
    """Surrogate pairs, by the offset of their character; the second half has ten bits of it."""
    first, last = low >> 10, high >> 10
    if first == last:
        return [_pair(first, last, low & _FULL, high & _FULL)]
    options: list[str] = []
    if low & _FULL:
        options.append(_pair(first, first, low & _FULL, _FULL))
        first += 1
    if high & _FULL < _FULL:
        options.append(_pair(last, last, 0, high & _FULL))
        last -= 1
    if first <= last:
        options.append(_pair(first, last, 0, _FULL))
    return options


def _pair(first: int, last: int, low: int, high: int) -> str:
    lead = _between(f"{0xD800 + first:04x}", f"{0xD800 + last:04x}")
    trail = _between(f"{0xDC00 + low:04x}", f"{0xDC00 + high:04x}")
    return rf'{lead} "\\u" {trail}'


def _between(low: str, high: str) -> str:
    """Hexadecimal strings of one width between two such strings, in either case."""
    if not low:
        return ""
    width = len(low)
    if set(low) == {"0"} and set(high) == {"f"}:
        return " ".join([HEX] * width)
    if low[0] == high[0]:
        return f"{_digit(low[0], low[0])} {_between(low[1:], high[1:])}".strip()
    bottom, top = int(low[0], 16), int(high[0], 16)
    options: list[str] = []
    if set(low[1:]) - {"0"}:
        options.append(f"{_digit(low[0], low[0])} {_between(low[1:], 'f' * (width - 1))}")
        bottom += 1
    if set(high[1:]) - {"f"}:
        options.append(f"{_digit(high[0], high[0])} {_between('0' * (width - 1), high[1:])}")
        top -= 1
    if bottom <= top:
        options.append(f"{_digit(f'{bottom:x}', f'{top:x}')} {_between('0' * (width - 1), 'f' * (width - 1))}".strip())
    return either(options)


def _digit(low: str, high: str) -> str:
    digits = "0123456789abcdef"
    lower = digits[digits.index(low) : digits.index(high) + 1]
    return f"[{lower}{''.join(digit.upper() for digit in lower if digit.isalpha())}]"
