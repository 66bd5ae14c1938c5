"""Sets of characters, as ranges of code points."""

from typing import Final

LAST: Final = 0x10FFFF
"""The greatest code point."""

Ranges = tuple[tuple[int, int], ...]
"""A set of characters: ranges of code points, both ends included, ascending and apart."""

ALL: Final[Ranges] = ((0, LAST),)


def charset(ranges: list[tuple[int, int]]) -> Ranges:
    """The set of all characters in some ranges."""
    joined: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if joined and low <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
        else:
            joined.append((low, high))
    return tuple(joined)


def of(characters: str) -> Ranges:
    """The set of these characters."""
    return charset([(ord(character), ord(character)) for character in characters])


def complement(ranges: Ranges) -> Ranges:
    """All other characters."""
    gaps: list[tuple[int, int]] = []
    following = 0
    for low, high in (*ranges, (LAST + 1, LAST + 1)):
        if following < low:
            gaps.append((following, low - 1))
        following = high + 1
    return tuple(gaps)


def meet(left: Ranges, right: Ranges) -> Ranges:
    """The characters in both sets."""
    pairs = [(max(a, c), min(b, d)) for a, b in left for c, d in right]
    return charset([(low, high) for low, high in pairs if low <= high])


def less(left: Ranges, right: Ranges) -> Ranges:
    """The characters in the first set and not in the second."""
    return meet(left, complement(right))


def size(ranges: Ranges) -> int:
    """How many characters there are."""
    return sum(high - low + 1 for low, high in ranges)
