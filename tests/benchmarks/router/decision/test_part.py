"""A small run over real mock engines, and what is promised."""

import pytest

from benchmarks.router.decision.figures import Amount, Found, Times, Weight
from benchmarks.router.decision.part import measure, met, report
from benchmarks.router.decision.prompts import SIZES


def found(**whole: list[float]) -> Found:
    times = []
    for size, took in whole.items():
        ones = [1.0] * len(took)
        times.append(Times(size.removeprefix("p"), "first", took, ones, ones, ones, ones, ones, ones))
    return Found(times, [Weight("books", 2_000_000, 1000, "session"), Weight("process", 3_000_000)])


@pytest.mark.parametrize(
    ("largest", "kept"),
    [([2.9] * 100, True), ([2.9] * 98 + [5.9] * 2, True), ([3.1] * 100, False), ([1.0] * 98 + [7.0] * 2, False)],
)
def test_the_median_and_the_tail_of_the_largest_prompts_are_promised(largest: list[float], *, kept: bool) -> None:
    assert met(found(p8K=[50.0] * 100, p146K=largest)) is kept


def test_the_report_names_every_kind_and_what_memory_is_for() -> None:
    text = report(found(p146K=[2.0, 2.0, 4.0]))

    assert "| 146K | first | 1.00 | 2.00 / 3.96 |" in text
    assert text.splitlines()[2].endswith("| 2.00 |")
    assert "| books | 2.0 | 1,000 sessions, 2,000 B each |" in text


@pytest.mark.timeout(120)
def test_decisions_are_measured_where_they_are_made() -> None:
    measured = measure(None, (), Amount(sessions=30, samples=2))

    assert [(times.size, times.turn) for times in measured.times] == [
        (size, turn) for size in SIZES for turn in ("second", "first")
    ]
    for times in measured.times:
        assert len(times.whole) == len(times.index) == len(times.policy) == len(times.dynamo) == 2
        assert all(whole >= index for whole, index in zip(times.whole, times.index, strict=True))
    # What was computed is found again, but for the new tokens; of a new session only what all share.
    again, fresh = measured.times[-2:]
    assert min(again.found) > 0.9
    assert max(fresh.found) < 0.1
