import numpy as np
import pytest

from router.replay.measures import Served
from router.replay.series import series


def request(arrival_ms: float, rank: int, cached: int, first_token_ms: float = 0.0) -> Served:
    return Served(
        session=0,
        turn=0,
        prompt_tokens=100,
        answer_tokens=1,
        arrival_ms=arrival_ms,
        ideal_tokens=90,
        pooled_tokens=80,
        device_tokens=cached,
        first_token_ms=first_token_ms or arrival_ms,
        rank=rank,
    )


def test_ratios_are_from_the_start_until_each_request_in_order_of_arrival() -> None:
    found = series([request(2, 1, 50), request(1, 0, 0), request(3, 0, 40)], ranks=2)
    assert found.requests.tolist() == [1, 2, 3]
    assert found.reuse.tolist() == pytest.approx([0.0, 0.25, 0.3])
    assert found.ideal.tolist() == pytest.approx([0.9] * 3)
    assert found.pooled.tolist() == pytest.approx([0.8] * 3)
    assert found.imbalance.tolist() == pytest.approx([2.0, 100 / 75, 160 / 105])


def test_rank_load_is_over_the_mean_ranks() -> None:
    found = series([request(1, 0, 0), request(2, 2, 50)], ranks=3)
    assert found.rank_load.tolist() == pytest.approx([2.0, 0.0, 1.0])


def test_time_to_first_token_is_given_by_percentile() -> None:
    found = series([request(0, 0, 0, first_token_ms=1000.0 * number) for number in range(1, 102)], ranks=1)
    assert (found.ttft_s[0], found.ttft_s[50], found.ttft_s[100]) == (1.0, 51.0, 101.0)


def test_many_requests_are_thinned_and_the_last_one_kept() -> None:
    found = series([request(number, 0, 0) for number in range(5000)], ranks=1)
    assert len(found.requests) == len(found.reuse) <= 400
    assert found.requests[-1] == 5000
    assert np.all(np.diff(found.requests) > 0)


def test_a_fully_cached_run_has_no_imbalance() -> None:
    found = series([request(1, 0, 100)], ranks=2)
    assert found.imbalance.tolist() == [0.0]
