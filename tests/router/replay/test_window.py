import pytest

from router.replay.measures import Served
from router.replay.window import window


def request(arrival: float, first: float, finished: float, answer: int = 100) -> Served:
    return Served(
        0,
        0,
        1_000,
        answer,
        arrival,
        device_tokens=900,
        started_ms=arrival + 10,
        first_token_ms=first,
        finished_ms=finished,
    )


def test_a_request_counts_where_it_finishes_and_is_in_flight_while_it_is_under_way() -> None:
    before, within, after = request(0, 100, 1_000), request(1_500, 2_000, 3_500), request(3_000, 3_600, 9_000)
    found = window([before, within, after], [], 1_000, 5_000, gpus=4)
    assert (found.requests, found.answer_tokens) == (1, 100)
    # 2,000 ms of the one and 2,000 of the other, of 4,000; decoding 1,500 and 1,400.
    assert found.in_flight == 1.0
    assert found.decoding == pytest.approx(0.725)
    assert found.user_tokens_per_s == found.mean_user_tokens_per_s == pytest.approx(50.0)
    assert found.gpu_tokens_per_s == pytest.approx(100 / 4 / 4)
    assert (found.wait_ms, found.mean_wait_ms, found.ttft_ms) == ((10, 10), 10, (500, 500))
    assert found.itl_ms[0] == pytest.approx(1_500 / 99)
    assert found.reuse_ratio == 0.9


def test_what_never_finishes_is_in_flight_to_the_end() -> None:
    waiting = Served(0, 0, 1_000, 100, 3_000)
    answered = Served(1, 0, 1_000, 100, 1_000, started_ms=1_010, first_token_ms=2_000)
    found = window([], [waiting, answered], 1_000, 5_000, gpus=1)
    assert (found.requests, found.in_flight, found.decoding) == (0, 1.5, 0.75)


def test_long_answers_count_by_their_length_in_the_mean_and_alike_in_the_median() -> None:
    short = [request(0, 100, 1_000, 10) for _ in range(2)]
    found = window([*short, request(0, 100, 1_000, 1_000)], [], 0, 1_000, gpus=1)
    assert (found.user_tokens_per_s, found.mean_user_tokens_per_s) == (10, 340)
