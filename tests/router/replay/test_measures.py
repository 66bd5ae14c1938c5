"""What a replay adds up to."""

import pytest

from router.replay.measures import Measures, Served, measure, percentiles


def served(number: int, **fields: float | str) -> Served:
    whole = Served(0, number, 1000, 101, 0.0, started_ms=10.0, first_token_ms=100.0, finished_ms=2100.0, reason="new")
    for name, value in fields.items():
        setattr(whole, name, value)
    return whole


def measured(requests: list[Served], computed: list[int] | None = None, counts: list[int] | None = None) -> Measures:
    return measure(
        requests,
        computed or [100, 100],
        counts or [1, 1],
        busy_ms=30.0,
        stepped_ms=40.0,
        gpus=10,
        moves=0,
        decode_moves=0,
    )


def test_reuse_is_of_tokens_and_not_of_requests() -> None:
    small, large = served(0, prompt_tokens=1000, device_tokens=1000), served(1, prompt_tokens=9000, host_tokens=1000)

    measures = measured([small, large])

    assert (measures.reuse_ratio, measures.device_reuse_ratio) == (0.2, 0.1)


def test_balance_is_the_busiest_rank_over_the_mean_idle_ones_included() -> None:
    measures = measured([served(0)], computed=[300, 100, 0, 0], counts=[2, 1, 0, 0])

    assert measures.rank_load_max_over_mean == 3.0
    assert measures.idle_ranks == 2


def test_a_users_rate_counts_the_wait() -> None:
    assert measured([served(0)]).user_tokens_per_s == pytest.approx(101 / 2.1)


def test_a_rate_a_gpu_counts_all_gpus_and_the_whole_run() -> None:
    assert measured([served(0), served(1)]).gpu_tokens_per_s == pytest.approx(202 / 2.1 / 10)


def test_the_time_between_tokens_leaves_out_the_first() -> None:
    assert measured([served(0)]).itl_ms == (20.0, 20.0)


def test_an_answer_of_one_token_has_no_time_between() -> None:
    assert measured([served(0, answer_tokens=1, finished_ms=100.0)]).itl_ms == (0.0, 0.0)


def test_lockstep_efficiency_is_the_mean_ranks_share_of_the_steps() -> None:
    assert measured([served(0)]).lockstep_efficiency == 0.75


def test_decisions_are_counted_by_reason() -> None:
    assert measured([served(0), served(1), served(2, reason="home")]).reasons == {"new": 2, "home": 1}


def test_percentiles() -> None:
    assert percentiles([float(number) for number in range(100, -1, -1)]) == (50.0, 90.0)
    assert percentiles([]) == (0.0, 0.0)
