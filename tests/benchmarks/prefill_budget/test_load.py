import pytest

from benchmarks.frontend.processes import BenchmarkError
from benchmarks.prefill_budget.load import LONG_SHARE, Answered, Arrival, answered, arrivals

TIMING = {"ttft_ms": 30.0, "prefill": {"admission_ms": 10.0, "compute_ms": 15.0}, "decode": {"fetch_ms": 4.0}}


def test_a_round_is_the_same_for_its_seed_and_another_for_another() -> None:
    assert arrivals(20, 1.0, 3) == arrivals(20, 1.0, 3)
    assert {each.prompt for each in arrivals(20, 1.0, 3)}.isdisjoint(each.prompt for each in arrivals(20, 1.0, 4))


def test_requests_come_one_after_another_at_the_rate_and_share_no_beginning() -> None:
    found = arrivals(2000, 5.0, 0)

    assert [each.at_s for each in found] == sorted(each.at_s for each in found)
    assert found[-1].at_s == pytest.approx(2000 / 5.0, rel=0.1)
    assert sum(each.long for each in found) / 2000 == pytest.approx(LONG_SHARE, abs=0.03)
    assert len({each.prompt.partition(" ")[0] for each in found}) == 2000


def test_an_answer_says_how_long_it_was_ready() -> None:
    assert answered(Arrival(0.0, "x", long=True), {"nvext": {"timing": TIMING}}) == Answered(True, 10.0, 15.0, 30.0)


@pytest.mark.parametrize("extra", [{}, {"nvext": {}}, {"nvext": {"timing": {"ttft_ms": 1.0}}}])
def test_an_answer_that_does_not_say_it_ends_the_run(extra: dict[str, object]) -> None:
    with pytest.raises(BenchmarkError, match="timing has no prefill"):
        answered(Arrival(0.0, "x", long=False), extra)
