import pytest

from benchmarks.frontend.table import SECTIONS, Row, number, spread, tables


def test_ratios_are_of_runs_of_one_round() -> None:
    rounds = {"ours": [{"x": 1.0}, {"x": 10.0}, {"x": 4.0}], "dynamo": [{"x": 2.0}, {"x": 10.0}, {"x": 2.0}]}
    assert tables(rounds, {"ms": [Row("label", "x")]}).splitlines() == [
        "| ms | ours | Dynamo's | ours / Dynamo's |",
        "| --- | --: | --: | --: |",
        "| label | 4.00 (1.00-10.0) | 2.00 (2.00-10.0) | 1.00 (0.50-2.00) |",
    ]


def test_a_row_may_compare_other_frontends() -> None:
    rounds = {"floor": [{"x": 3.0}], "dynamo-uncached": [{"x": 2.0}]}
    row = Row("label", "x", left="floor", right="dynamo-uncached")
    assert "| label | 3.00 | 2.00 | 1.50 |" in tables(rounds, {"ms": [row]})


def test_every_length_and_stream_has_its_rows() -> None:
    keys = {row.key for rows in SECTIONS.values() for row in rows}
    assert {"ttft-p90/146K/second", "rps/32K/first", "tps/calls-8", "tps-core/text-1"} <= keys


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.333, "0.33"), (1.234, "1.23"), (12.34, "12.3"), (123.4, "123"), (12345.6, "12,346")],
)
def test_numbers_keep_three_digits(value: float, text: str) -> None:
    assert number(value) == text


def test_a_single_round_has_no_spread() -> None:
    assert spread([2.0]) == "2.00"
