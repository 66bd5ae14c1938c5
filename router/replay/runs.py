"""Block ids as runs: a prompt of a hundred thousand tokens is a handful of them."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

import numpy as np

Run = tuple[int, int]
"""`(first id, count)`: that many consecutive ids."""


def as_runs(ids: Sequence[int]) -> tuple[Run, ...]:
    """Write ids, in their order, as the fewest runs."""
    array = np.asarray(ids, dtype=np.int64)
    edges = np.flatnonzero(np.diff(array) != 1) + 1
    starts = [0, *edges.tolist()] if array.size else []
    counts = np.diff([*starts, array.size]).tolist()
    return tuple(zip(array[starts].tolist(), counts, strict=True))


def joined(runs: Iterable[Run]) -> tuple[Run, ...]:
    """Join each run to the one before it where it continues that one; drop empty ones."""
    merged: list[Run] = []
    for first, count in runs:
        if not count:
            continue
        if merged and sum(merged[-1]) == first:
            merged[-1] = (merged[-1][0], merged[-1][1] + count)
        else:
            merged.append((first, count))
    return tuple(merged)


def length(runs: Iterable[Run]) -> int:
    """Count the blocks."""
    return sum(count for _, count in runs)


def split(runs: Sequence[Run], blocks: int) -> tuple[tuple[Run, ...], tuple[Run, ...]]:
    """Part the first `blocks` blocks from the rest; all is first where there are no more."""
    left = blocks
    for index, (first, count) in enumerate(runs):
        if left < count:
            head = ((first, left),) if left else ()
            return (*runs[:index], *head), ((first + left, count - left), *runs[index + 1 :])
        left -= count
    return tuple(runs), ()


def common_prefix(one: Sequence[Run], other: Sequence[Run]) -> int:
    """Count the blocks that both begin with, however their runs are cut."""
    blocks = 0
    mine, yours = list(reversed(one)), list(reversed(other))
    while mine and yours and mine[-1][0] == yours[-1][0]:
        (first, count), (_, theirs) = mine.pop(), yours.pop()
        step = min(count, theirs)
        blocks += step
        if count > step:
            mine.append((first + step, count - step))
        if theirs > step:
            yours.append((first + step, theirs - step))
    return blocks


class Seen:
    """A set of block ids, kept as disjoint ranges: its size follows the number of gaps, not of ids."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []

    def add(self, runs: Iterable[Run]) -> int:
        """Add the ids of runs; the number of them that were not in it."""
        return sum(self._add(first, first + count) for first, count in runs)

    def _add(self, start: int, end: int) -> int:
        # Ranges that touch the new one melt into it.
        low, high = bisect_left(self._ends, start), bisect_right(self._starts, end)
        if low < high and self._starts[low] <= start and end <= self._ends[low]:
            return 0
        known = 0
        merged_start, merged_end = start, end
        if low < high:
            ranges = zip(self._starts[low:high], self._ends[low:high], strict=True)
            known = sum(max(0, min(e, end) - max(s, start)) for s, e in ranges)
            merged_start, merged_end = min(start, self._starts[low]), max(end, self._ends[high - 1])
        self._starts[low:high], self._ends[low:high] = [merged_start], [merged_end]
        return end - start - known
