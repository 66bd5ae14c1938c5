"""Grammars of digit strings between two others, as xgrammar EBNF."""

from typing import Final

MOST_DIGITS: Final = 40
"""Most digits in a row: more than any double or 128-bit integer has, and an end to a model that only repeats digits."""


def whole_numbers(low: int, high: int | None) -> list[str]:
    """Decimal integers from `low`, which is at least 0, to `high`, without leading zeros."""
    if high is not None and high < low:
        return []
    width = len(str(low))
    if high is None:
        longer = f"[1-9] [0-9]{{{width},{MOST_DIGITS}}}"
        return [*whole_numbers(low, 10**width - 1), longer]
    options: list[str] = []
    while len(str(high)) > width:
        options.append(_same_width(str(low), "9" * width))
        low, width = 10**width, width + 1
    options.append(_same_width(str(low), str(high)))
    return options


def _same_width(low: str, high: str) -> str:
    """Digit strings of one width between two such strings."""
    if not low:
        return '""'
    if set(low) == {"0"} and set(high) == {"9"}:
        return f"[0-9]{{{len(low)},{len(low)}}}"
    if low[0] == high[0]:
        return _join(f'"{low[0]}"', _same_width(low[1:], high[1:]))
    rest = len(low) - 1
    first, last = int(low[0]), int(high[0])
    options: list[str] = []
    if set(low[1:]) - {"0"}:
        options.append(_join(f'"{first}"', _same_width(low[1:], "9" * rest)))
        first += 1
    bottom = last if set(high[1:]) <= {"9"} else last - 1
    if first <= bottom:
        options.append(_join(f"[{first}-{bottom}]", _same_width("0" * rest, "9" * rest)))
    if bottom < last:
        options.append(_join(f'"{last}"', _same_width("0" * rest, high[1:])))
    return either(options)


def _join(head: str, rest: str) -> str:
    return head if rest == '""' else f"{head} {rest}"


def either(options: list[str]) -> str:
    """Return one expression for any of these."""
    return options[0] if len(options) == 1 else f"({' | '.join(options)})"
