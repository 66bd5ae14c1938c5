"""The figures of all rounds as Markdown: a table for each size of memory, a column for each policy, and ratios."""

import statistics
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from benchmarks.router.live.figures import Figures

Rounds = Mapping[str, Sequence[Figures]]
"""Figures by policy, one a round; ours is the first policy."""


class Row(NamedTuple):
    """A figure: its label, its key, digits behind the point, and whether ratios of it mean something."""

    label: str
    key: str
    digits: int
    compared: bool = True


ROWS = (
    Row("reuse", "reuse", 3),
    Row("of ideal", "reuse/ideal", 3),
    Row("of pooled", "reuse/pooled", 3),
    Row("busiest rank / mean", "balance", 2),
    Row("idle ranks", "idle", 0, compared=False),
    Row("TTFT p50, ms", "ttft p50", 0),
    Row("TTFT p90, ms", "ttft p90", 0),
    Row("failed requests", "failures", 0, compared=False),
    Row("moves of a session's prefill rank", "prefill moves", 0, compared=False),
    Row("of its decode worker", "decode moves", 0, compared=False),
    Row("duration, s", "seconds", 1),
)

ROWS_AFTER_KILL = (
    Row("failed requests", "failures", 0, compared=False),
    Row("of them refused, the others cut off", "refused", 0, compared=False),
    Row("sessions that saw a failure", "sessions", 0, compared=False),
    Row("last failure, s after the kill", "last failure", 1, compared=False),
    Row("slowest first token, s, failures included", "slowest", 1, compared=False),
)


def table(title: str, rows: Sequence[Row], rounds: Rounds) -> str:
    """Return one table: medians of the rounds, with the least and the greatest where they differ.

    A ratio is taken within each round, whose runs stood side by side.

    Args:
        title: Head of the first column.
        rows: What is shown.
        rounds: The figures.
    """
    ours, *others = rounds
    ratios = others if any(row.compared for row in rows) else []
    heads = [title, *rounds, *(f"{ours} / {other}" for other in ratios)]
    lines = [f"| {' | '.join(heads)} |", f"| --- |{' --: |' * (len(heads) - 1)}"]
    for row in rows:
        values = {policy: [figures[row.key] for figures in runs] for policy, runs in rounds.items()}
        cells = [_spread(values[policy], row.digits) for policy in rounds]
        cells += [_ratio(values[ours], values[other]) if row.compared else "" for other in ratios]
        lines.append(f"| {' | '.join([row.label, *cells])} |")
    return "\n".join(lines)


def _ratio(mine: Sequence[float], theirs: Sequence[float]) -> str:
    return _spread([one / other for one, other in zip(mine, theirs, strict=True) if other], 2)


def _spread(values: Sequence[float], digits: int) -> str:
    if not values:
        return ""
    middle, low, high = (f"{pick(values):,.{digits}f}" for pick in (statistics.median, min, max))
    return middle if low == high else f"{middle} ({low}-{high})"
