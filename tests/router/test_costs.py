import pytest

from router.costs import Costs


def test_new_tokens_cost_more_behind_a_long_context() -> None:
    costs = Costs()

    assert costs.prefill_ms(1000, 1000) < costs.prefill_ms(1000, 100_000)
    assert costs.prefill_ms(0, 100_000) == 0


def test_a_prompt_costs_the_same_in_one_piece_as_in_two() -> None:
    costs = Costs()

    whole = costs.prefill_ms(10_000, 10_000)

    assert costs.prefill_ms(4_000, 4_000) + costs.prefill_ms(6_000, 10_000) == pytest.approx(whole)


def test_moving_nothing_is_free_and_moving_anything_has_a_floor() -> None:
    costs = Costs(transfer_ms=5.0)

    assert costs.move_ms(0) == 0
    assert costs.move_ms(1) > 5.0


def test_moving_counts_bytes_and_pieces() -> None:
    costs = Costs(kv_token_bytes=1000, transfer_gb_s=1.0, transfer_ms=0.0, piece_us=10.0, piece_tokens=100)

    assert costs.move_ms(1000) == pytest.approx(1.0 + 0.1)


def test_fetching_counts_bytes() -> None:
    assert Costs(kv_token_bytes=1000, fetch_gb_s=2.0).fetch_ms(4000) == pytest.approx(2.0)


def test_a_decode_step_takes_longer_with_more_requests() -> None:
    costs = Costs(decode_step_ms=10.0, decode_request_us=500.0)

    assert [costs.decode_ms(count) for count in (0, 1, 3)] == [10.0, 10.0, 11.0]


def test_decode_steps_that_are_known_one_by_one_stand_for_the_line() -> None:
    costs = Costs(decode_steps_ms=(3.0, 5.0, 6.0), decode_request_us=500.0)
    assert [costs.decode_ms(requests) for requests in (0, 1, 2, 3, 5)] == [3.0, 3.0, 5.0, 6.0, 7.0]
