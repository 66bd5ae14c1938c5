"""Figures over seeds as Markdown."""

from benchmarks.router.tables import Shown, table
from router.replay.report import Column, Range


def test_ranges_are_shown_where_they_differ() -> None:
    column = Column("kv", 0.7, {"a": Range(0.5, 0.25, 1.0), "b": Range(2000.0, 2000.0, 2000.0)}, {})

    text = table(("policy",), [(("kv",), column)], (Shown("share", "a", 2), Shown("s", "b", 1, 1e-3)))

    assert text.splitlines() == [
        "| policy | share | s |",
        "| --- | --: | --: |",
        "| kv | 0.50 (0.25-1.00) | 2.0 |",
    ]


def test_a_range_can_be_left_out() -> None:
    column = Column("kv", 0.7, {"a": Range(0.5, 0.25, 1.0)}, {})

    assert table((), [((), column)], (Shown("share", "a", 1, ranged=False),)).endswith("| 0.5 |")
