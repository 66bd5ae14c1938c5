"""Figures over seeds as Markdown: the median, and the least and the greatest where they differ."""

from collections.abc import Sequence
from typing import NamedTuple

from router.replay.report import Column, Range


class Shown(NamedTuple):
    """A column of a table.

    Attributes:
        title: Its head.
        figure: Name of the figure in a replay's JSON report.
        digits: After the point.
        scale: What it is multiplied by.
        ranged: Whether the least and the greatest are shown.
    """

    title: str
    figure: str
    digits: int = 3
    scale: float = 1.0
    ranged: bool = True


REUSE = Shown("reuse", "reuse_ratio")
OF_POOLED = Shown("of pooled", "reuse_of_pooled")
BALANCE = Shown("busiest rank / mean", "rank_load_max_over_mean", 2)
IDLE = Shown("idle ranks", "idle_ranks", 0)
TTFT_90 = Shown("TTFT p90, s", "ttft_p90_ms", 1, 1e-3)
SPEED = Shown("E2E tok/s per user", "user_tokens_per_s", 1)


def table(heads: Sequence[str], rows: Sequence[tuple[Sequence[str], Column]], shown: Sequence[Shown]) -> str:
    """Write a row a column of a report.

    Args:
        heads: Over the first cells of a row.
        rows: The first cells of each row, and the figures for the others.
        shown: The other cells.
    """
    lines = [
        f"| {' | '.join([*heads, *(each.title for each in shown)])} |",
        f"| {' | '.join(['---'] * len(heads) + ['--:'] * len(shown))} |",
    ]
    for firsts, column in rows:
        cells = [*firsts, *(_cell(column.figures[each.figure], each) for each in shown)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(figure: Range, shown: Shown) -> str:
    middle, low, high = (f"{value * shown.scale:,.{shown.digits}f}" for value in figure)
    return middle if low == high or not shown.ranged else f"{middle} ({low}-{high})"
