"""Figures as Markdown."""

from benchmarks.router.live.table import Row, table


def test_ratios_are_of_ours_to_each_other_within_a_round() -> None:
    rounds = {"sticky": [{"a": 1.0}, {"a": 3.0}], "kv": [{"a": 2.0}, {"a": 2.0}], "kv-affinity": [{"a": 4.0}] * 2}

    assert table("768K", [Row("reuse", "a", 1)], rounds).splitlines() == [
        "| 768K | sticky | kv | kv-affinity | sticky / kv | sticky / kv-affinity |",
        "| --- | --: | --: | --: | --: | --: |",
        "| reuse | 2.0 (1.0-3.0) | 2.0 | 4.0 | 1.00 (0.50-1.50) | 0.50 (0.25-0.75) |",
    ]


def test_what_may_be_nothing_has_no_ratio() -> None:
    rounds = {"sticky": [{"a": 0.0, "b": 2.0}], "kv": [{"a": 3.0, "b": 0.0}]}

    text = table("t", [Row("failed", "a", 0, compared=False), Row("b", "b", 0)], rounds)

    assert text.splitlines()[2:] == ["| failed | 0 | 3 |  |", "| b | 2 | 0 |  |"]
    assert table("t", [Row("failed", "a", 0, compared=False)], rounds).splitlines()[0] == "| t | sticky | kv |"
