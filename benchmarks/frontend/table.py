"""The figures of all rounds as Markdown tables."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.frontend.measure import Figures
from benchmarks.frontend.workload import SIZES

Rounds = Mapping[str, Sequence[Figures]]
"""Figures by frontend, one a round."""


@dataclass(frozen=True)
class Row:
    """One comparison: a figure of one frontend beside the same figure of another."""

    label: str
    key: str
    left: str = "ours"
    right: str = "dynamo"


_TURNS = tuple((f"{size}, {turn} turn", f"{size}/{turn}") for size in SIZES for turn in ("first", "second"))
_STREAMS = (
    ("plain, 1 token a chunk", "text-1"),
    ("plain, 8 tokens a chunk", "text-8"),
    ("tool calls, 1 token a chunk", "calls-1"),
    ("tool calls, 8 tokens a chunk", "calls-8"),
)


def _first_token_rows() -> list[Row]:
    rows = []
    for label, what in _TURNS:
        rows += [
            Row(f"{label}, median", f"ttft-p50/{what}"),
            Row(f"{label}, p90", f"ttft-p90/{what}"),
            Row(f"{label}, median; Dynamo with DYN_TOKENIZER_CACHE=0", f"ttft-p50/{what}", right="dynamo-uncached"),
        ]
    return rows


def _per_core_rows() -> list[Row]:
    rows = []
    for label, what in _STREAMS:
        rows.append(Row(label, f"tps-core/{what}"))
        if what.startswith("text"):
            rows.append(Row(f"{label}; the floor in place of ours", f"tps-core/{what}", left="floor"))
    return rows


SECTIONS: Mapping[str, Sequence[Row]] = {
    "time to first token, ms, concurrency 1": _first_token_rows(),
    "requests/s, concurrency 4": [Row(label, f"rps/{what}") for label, what in _TURNS],
    "CPU of the frontend, ms a request": [Row(label, f"cpu-ms/{what}") for label, what in _TURNS],
    "output tokens/s, concurrency 32": [Row(label, f"tps/{what}") for label, what in _STREAMS],
    "output tokens/s per core of frontend CPU": _per_core_rows(),
}


def tables(rounds: Rounds, sections: Mapping[str, Sequence[Row]] = SECTIONS) -> str:
    """Return a table a section: medians of the rounds, with the least and the greatest in brackets."""
    return "\n\n".join(_table(title, rows, rounds) for title, rows in sections.items())


def _table(title: str, rows: Sequence[Row], rounds: Rounds) -> str:
    lines = [f"| {title} | ours | Dynamo's | ours / Dynamo's |", "| --- | --: | --: | --: |"]
    for row in rows:
        left = [figures[row.key] for figures in rounds[row.left]]
        right = [figures[row.key] for figures in rounds[row.right]]
        # Each ratio is of one round, whose runs stood side by side.
        ratios = [a / b for a, b in zip(left, right, strict=True)]
        lines.append(f"| {row.label} | {spread(left)} | {spread(right)} | {spread(ratios)} |")
    return "\n".join(lines)


def spread(values: Sequence[float]) -> str:
    """Return ``median (least-greatest)``, the median alone for a single value."""
    middle = number(statistics.median(values))
    return middle if len(values) == 1 else f"{middle} ({number(min(values))}-{number(max(values))})"


def number(value: float) -> str:
    """Return a number with three digits that count, and thousands apart."""
    digits = 2 if value < 1 else max(0, 3 - len(str(int(value))))
    return f"{value:,.{digits}f}"
