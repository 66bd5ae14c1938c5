"""Results as a table in Markdown, wide enough to be read as it is."""

from collections.abc import Sequence

from graphs.commands.toolcalls.conformance.faults import FAULTS
from graphs.commands.toolcalls.conformance.results import Parser, Score, kinds_of


def table(parsers: Sequence[Parser]) -> str:
    """Return a row a fault class and a column a parser: cases read right, whole / streamed; then totals."""
    kinds = sorted(kinds_of(parsers[0].results))
    rows = [
        ["fault class", "cases", *(f"{parser.name} {parser.version}" for parser in parsers)],
        *(_right(kind, [parser.score(kind) for parser in parsers]) for kind in kinds),
    ]
    totals = [parser.score() for parser in parsers]
    rows.append(_right("**all**", totals))
    rows += [
        ["calls right", "", *(_pair(score.calls_right) for score in totals)],
        *([fault, "", *(_pair(score.faults[fault]) for score in totals)] for fault in FAULTS),
        ["refused, or failed", "", *(_pair(score.errors) for score in totals)],
        ["whole and streamed differ", "", *(str(score.modes_differ) for score in totals)],
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    rows.insert(1, rule)
    return "\n".join(_line(row, widths) for row in rows) + "\n"


def _right(name: str, scores: Sequence[Score]) -> list[str]:
    return [name, str(scores[0].cases), *(_pair(score.right) for score in scores)]


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = zip(cells, widths, strict=True)
    return f"| {' | '.join((first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)))} |"


def _pair(counts: tuple[int, int]) -> str:
    return f"{counts[0]} / {counts[1]}"
