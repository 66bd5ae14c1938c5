import pytest

from benchmarks.prefill_budget.load import Answered
from benchmarks.prefill_budget.table import mean_ms, percentile, report


def round_of(scale: float) -> list[Answered]:
    return [Answered(number % 4 == 0, scale * number, 2 * scale, 4 * scale) for number in range(1, 9)]


@pytest.mark.parametrize(("hundredth", "value"), [(50, 3.0), (90, 4.6), (1, 1.04)])
def test_percentiles_lie_between_the_values(hundredth: int, value: float) -> None:
    assert percentile([5.0, 4.0, 3.0, 2.0, 1.0], hundredth) == pytest.approx(value)


def test_one_value_is_all_percentiles() -> None:
    assert percentile([7.0], 90) == 7.0


def test_the_mean_is_the_median_rounds() -> None:
    assert mean_ms([round_of(1.0), round_of(9.0), round_of(2.0)], "queue_ms") == 9.0


def test_the_report_has_each_budget_and_what_the_smaller_one_is_worth() -> None:
    text = report({256: [round_of(1.0), round_of(2.0)], 4096: [round_of(10.0)]})

    rows = [line for line in text.splitlines() if line.startswith(("| 256", "| 4,096"))]
    assert [row.split(" | ")[1] for row in rows] == ["all", "short", "long"] * 2
    assert "| 256 | all | 7 (4-9) |" in text
    assert "256 over 4,096 tokens: queue wait 0.15, TTFT 0.15." in text
