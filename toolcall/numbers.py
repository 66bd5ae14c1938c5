"""Grammars of numbers within bounds, as xgrammar EBNF."""

import math
from decimal import Decimal
from typing import Final

from toolcall.decimals import Within, decimals
from toolcall.digits import MOST_DIGITS
from toolcall.digits import either as _either
from toolcall.digits import whole_numbers as _range
from toolcall.nodes import Number

_LARGEST_EXACT: Final = Decimal(10**16)
"""From here on programs write numbers with an exponent."""

_SMALLEST: Final = -323
_LARGEST: Final = 307
"""Exponents of ten between which every number is a double."""

# Every number stays within the doubles: one beyond would be read as infinite, one below as zero.
RULES: Final = {
    "digits": f"[0-9]{{0,{MOST_DIGITS}}}",
    "integer": '"-"? ("0" | [1-9] digits)',
    "fraction": '("." [0-9] digits)?',
    "mantissa": "[1-9] fraction",
    "small": 'mantissa [eE] "-" ("0"? [1-9] | [1-9] [0-9] | [12] [0-9] [0-9] | "3" [01] [0-9] | "32" [0-3])'
    ' | "5" [eE] "-324"',
    "large": 'mantissa [eE] "+"? ("1" [6-9] | [2-9] [0-9] | [12] [0-9] [0-9] | "30" [0-7])'
    ' | "1" ("." ([0-6] digits | "7" ([0-8] digits | "9" ([0-6] digits | "7" ([0-6] | [0-5] digits'
    ' | "6931348623157")?)?)?))? [eE] "+"? "308"',
    "real": 'integer fraction ([eE] [+\\-]? [0-9] [0-9]?)? | "-"? (small | large)',
}
"""The rules that the expressions below refer to: `real` is any number, `small` one below 1, `large` one from 1e16."""


def number(node: Number) -> str:
    """The EBNF expression of exactly the numbers within a node's bounds, over `RULES`."""
    if node.low is None and node.high is None:
        return "integer" if node.integer else "real"
    return _integers(node) if node.integer else _reals(node)


def is_empty(node: Number) -> bool:
    """Whether no number lies between a node's bounds."""
    if node.integer:
        low, high = _whole_bounds(node)
        return low is not None and high is not None and low > high
    if node.low is None or node.high is None:
        return False
    return node.low > node.high or (node.low == node.high and (node.open_low or node.open_high))


def multiples(node: Number, of: float, most: int) -> tuple[int, ...] | None:
    """The integers of a node that are multiples of a number; None where they are too many, or not only integers."""
    low, high = _whole_bounds(node)
    if not node.integer or low is None or high is None or of != int(of):
        return None
    found = range(-(-low // int(of)) * int(of), high + 1, int(of))
    return tuple(found) if len(found) <= most else None


def _whole_bounds(node: Number) -> tuple[int | None, int | None]:
    """The least and the greatest integer of a node."""
    low = high = None
    if node.low is not None:
        low = math.floor(node.low) + 1 if node.open_low else math.ceil(node.low)
    if node.high is not None:
        high = math.ceil(node.high) - 1 if node.open_high else math.floor(node.high)
    return low, high


def _integers(node: Number) -> str:
    low, high = _whole_bounds(node)
    options: list[str] = []
    if low is None or low < 0:
        # The numbers below zero, mirrored.
        options += [f'"-" {each}' for each in _range(1 if high is None or high >= 0 else -high, _negated(low))]
    if high is None or high >= 0:
        options += _range(0 if low is None or low < 0 else low, high)
    return _either(options)


def _reals(node: Number) -> str:
    zero = Decimal(0)
    low, high = _decimal(node.low), _decimal(node.high)
    options: list[str] = []
    if high is None or high > 0 or (high == 0 and not node.open_high):
        bottom, open_bottom = (zero, False) if low is None or low < 0 else (low, node.open_low)
        options += _positive(bottom, high, open_low=open_bottom, open_high=node.open_high)
    if low is None or low < 0:
        nearest, open_nearest = (zero, False) if high is None or high > 0 else (-high, node.open_high)
        farthest = None if low is None else -low
        below = _positive(nearest, farthest, open_low=open_nearest, open_high=node.open_low)
        options += [f'"-" ({each})' for each in below]
    elif low == 0 and not node.open_low:
        options.append('"-0" ("." "0"{1,40})?')
    return _either(options)


def _decimal(bound: float | None) -> Decimal | None:
    """A bound as it is written, not as the double next to it."""
    return None if bound is None else Decimal(repr(bound))


def _positive(low: Decimal, high: Decimal | None, *, open_low: bool, open_high: bool) -> list[str]:
    """Numbers from `low`, at least 0, to `high`: as decimals, and with an exponent where programs write one."""
    within = Within(low, high, open_low, open_high)
    options = decimals(within)
    if low < 1 and (high is None or high > 0):
        options += _scaled(within, _SMALLEST, -1) if low > 0 or (high is not None and high < 1) else ["small"]
    if high is None and low <= _LARGEST_EXACT:
        options.append("large")
    elif high is None or high >= _LARGEST_EXACT:
        options += _scaled(within, _LARGEST_EXACT.adjusted(), _LARGEST)
    return options


def _scaled(within: Within, first: int, last: int) -> list[str]:
    """Numbers `d.dde<x>` with `x` from `first` to `last`, all of one sign, as far as they lie within."""
    if within.low > 0:
        first = max(first, within.low.adjusted())
    if within.high is not None:
        last = min(last, within.high.adjusted())
    options: list[str] = []
    for exponent in {first, last} if first <= last else ():
        mantissas = decimals(within.mantissas(exponent))
        if mantissas:
            options.append(f"{_either(mantissas)} {_exponents(exponent, exponent)}")
    if first + 1 < last:
        options.append(f"mantissa {_exponents(first + 1, last - 1)}")
    return options


def _exponents(first: int, last: int) -> str:
    sign, least, greatest = ('"-"', -last, -first) if last < 0 else ('"+"?', first, last)
    # Python writes 1e-07 where JavaScript writes 1e-7.
    return f'[eE] {sign} "0"? {_either(_range(least, greatest))}'


def _negated(bound: int | None) -> int | None:
    return None if bound is None else -bound
