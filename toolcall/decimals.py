"""Grammars of decimal numbers between two bounds that may have fractions, as xgrammar EBNF."""

import math
from decimal import Decimal

import msgspec

from toolcall.digits import MOST_DIGITS, either, whole_numbers

_ZEROS = f'"0"{{0,{MOST_DIGITS}}}'


class Within(msgspec.Struct, frozen=True):
    """Numbers from `low`, at least 0, to `high`, None for no end; each inclusive unless its `open_` flag is set."""

    low: Decimal
    high: Decimal | None
    open_low: bool
    open_high: bool

    def mantissas(self, exponent: int) -> "Within":
        """The numbers from 1 to below 10 that are within these bounds when multiplied by ten to this power."""
        low = self.low.scaleb(-exponent)
        high = None if self.high is None else self.high.scaleb(-exponent)
        above = low < 1
        below = high is None or high >= 10  # noqa: PLR2004 - the base.
        return Within(
            Decimal(1) if above else low,
            Decimal(10) if below else high,
            not above and self.open_low,
            below or self.open_high,
        )


def decimals(within: Within) -> list[str]:
    """Expressions for the numbers within the bounds, without exponent or leading zeros, over `numbers.RULES`."""
    low, high = within.low, within.high
    first = math.floor(low)
    if high is not None and (high < low or first > math.floor(high)):
        return []
    least = _fraction(low)
    if high is not None and first == math.floor(high):
        return _number(first, fraction(least, _fraction(high), open_low=within.open_low, open_high=within.open_high))
    options: list[str] = []
    if least or within.open_low:
        options += _number(first, fraction(least, None, open_low=within.open_low, open_high=False))
        first += 1
    last = None if high is None else math.floor(high) - 1
    options += [f"{each} fraction" for each in whole_numbers(first, last)]
    if high is not None:
        options += _number(math.floor(high), fraction("", _fraction(high), open_low=False, open_high=within.open_high))
    return options


def _number(whole: int, rest: str | None) -> list[str]:
    return [] if rest is None else [f'"{whole}" {rest}']


def _fraction(bound: Decimal) -> str:
    """The digits behind the point, without closing zeros."""
    return f"{bound % 1:f}".partition(".")[2].rstrip("0")


def fraction(low: str, high: str | None, *, open_low: bool, open_high: bool) -> str | None:
    """What may follow a whole part: a point and digits that lie between those of two bounds, or nothing.

    Args:
        low: Least digits, closing zeros cut off; empty for none.
        high: Greatest digits; None for any.
        open_low: Whether the least itself is left out.
        open_high: Whether the greatest itself is left out.

    Returns:
        None where nothing may follow, not even nothing.
    """
    if not low and not open_low and high is None:
        return "fraction"
    some = _digits(low, high, open_low=open_low, open_high=open_high)
    none = not low and not open_low and not (high == "" and open_high)
    if not some:
        return '""' if none else None
    return f'("." {either(some)}){"?" if none else ""}'


def _digits(low: str, high: str | None, *, open_low: bool, open_high: bool) -> list[str]:
    """At least one digit, and all that follow it."""
    first = int(low[:1] or "0")
    last = 9 if high is None else int(high[:1] or "0")
    if first > last:
        return []
    if first == last and high is not None:
        return _then(first, _rest(low[1:], high[1:], open_low=open_low, open_high=open_high))
    options: list[str] = []
    if low or open_low:
        options += _then(first, _rest(low[1:], None, open_low=open_low, open_high=False))
        first += 1
    if high is not None:
        options += _then(last, _rest("", high[1:], open_low=False, open_high=open_high))
        last -= 1
    if first <= last:
        options.append(f"[{first}-{last}] digits")
    return options


def _then(digit: int, rest: str | None) -> list[str]:
    return [] if rest is None else [f'"{digit}" {rest}']


def _rest(low: str, high: str | None, *, open_low: bool, open_high: bool) -> str | None:
    """Any number of further digits; None where the bounds leave none, not even an end."""
    if not low and high is None:
        return f"{_ZEROS} [1-9] digits" if open_low else "digits"
    if not low and high == "":
        return None if open_low or open_high else _ZEROS
    some = _digits(low, high, open_low=open_low, open_high=open_high)
    end = not low and not open_low
    if not some:
        return '""' if end else None
    return f"({either(some)}){'?' if end else ''}"
