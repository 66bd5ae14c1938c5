"""Figures as Markdown tables."""

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table whose first column is text and whose others are figures."""
    lines = [head, ["---", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def number(value: float) -> str:
    """Return a number with three digits that count, and thousands apart."""
    digits = 3 if value < 1 else max(0, 3 - len(str(int(value))))
    return f"{value:,.{digits}f}"
