"""The prices in force follow what is served, by every request or none, and no further than they should."""

import random

import pytest
from msgspec.structs import replace

from router import Costs, Fit
from router.fit import FEWEST, FITTED
from router.observation import Observation

RIGHT = Costs()


def served(chance: random.Random, truth: Costs = RIGHT, *, host: bool = False, beside_ms: float = 0.0) -> Observation:
    """Return a turn of an agent as engines of these prices serve it, give or take a tenth."""
    prompt = chance.randint(5_000, 150_000)
    new = chance.choice((chance.randint(1, 100), chance.randint(50, 3_000), prompt))
    held = chance.randint(0, prompt - new) if host else 0
    moved = chance.choice((chance.randint(100, 3_000), prompt))
    answer, running = chance.randint(20, 800), chance.uniform(1.0, 40.0)
    step_ms = truth.decode_step_ms + (running - 1.0) * truth.decode_request_us / 1e3
    return Observation(
        prompt_tokens=prompt,
        new_tokens=new,
        host_tokens=held,
        moved_tokens=moved,
        beside_ms=beside_ms,
        first_token_ms=sum(truth.first_token_parts(prompt, new, held, moved)) * chance.uniform(0.9, 1.1),
        answer_tokens=answer,
        answer_ms=(answer - 1) * step_ms * chance.uniform(0.9, 1.1),
        running=running,
    )


def fitted(start: Costs, truth: Costs = RIGHT, count: int = 100, *, host: bool = False, seed: int = 0) -> Fit:
    fit, chance = Fit(start), random.Random(seed)
    for _ in range(count):
        fit.learn(served(chance, truth, host=host))
    return fit


def off(*prices: str, by: float) -> Costs:
    return replace(RIGHT, **{price: getattr(RIGHT, price) * by for price in prices})


PREFILL = ("step_ms", "prefill_token_us", "context_token_ns")
DECODE = ("decode_step_ms", "decode_request_us")


@pytest.mark.parametrize("by", [3.0, 1 / 3])
@pytest.mark.parametrize("prices", [("prefill_token_us",), ("fetch_gb_s",), ("transfer_gb_s",), DECODE])
def test_prices_that_are_wrong_by_three_are_right_after_a_hundred_requests(prices: tuple[str, ...], by: float) -> None:
    fit = fitted(off(*prices, by=by), host=True)

    for price in prices:
        assert getattr(fit.costs, price) == pytest.approx(getattr(RIGHT, price), rel=0.35), price


@pytest.mark.parametrize("by", [3.0, 1 / 3])
def test_first_tokens_come_as_expected_after_a_hundred_requests(by: float) -> None:
    fit = fitted(off(*PREFILL, by=by))

    for prompt, new in ((100_000, 1), (100_000, 500), (100_000, 5_000), (5_000, 5_000), (150_000, 150_000)):
        amounts = (prompt, new, 0, new)
        expected, right = (sum(costs.first_token_parts(*amounts)) for costs in (fit.costs, RIGHT))
        assert expected == pytest.approx(right, rel=0.2), amounts


def test_prices_that_are_right_do_not_move() -> None:
    for seed in range(5):
        assert fitted(RIGHT, count=500, host=True, seed=seed).costs == RIGHT


def test_nothing_moves_before_there_are_enough_requests() -> None:
    start = off(*PREFILL, *DECODE, by=3.0)

    assert fitted(start, count=FEWEST - 1).costs == start
    assert fitted(start, count=FEWEST).costs != start


def test_a_burst_of_cached_turns_leaves_the_price_of_compute() -> None:
    fit, chance = fitted(off(*PREFILL, by=3.0)), random.Random(1)
    before = fit.costs.prefill_token_us

    for _ in range(2_000):
        turn = replace(served(chance), new_tokens=1, first_token_ms=chance.uniform(15.0, 25.0), moved_tokens=1)
        fit.learn(turn)

    assert fit.costs.prefill_token_us == pytest.approx(before, rel=0.05)


def test_an_engine_that_comes_back_at_another_speed_is_followed_within_a_hundred_requests() -> None:
    fit, chance = fitted(RIGHT, count=2_000), random.Random(2)
    slower = off(*PREFILL, *DECODE, by=3.0)

    for _ in range(100):
        fit.learn(served(chance, slower))

    for price in ("prefill_token_us", "decode_step_ms"):
        assert getattr(fit.costs, price) == pytest.approx(getattr(slower, price), rel=0.35), price


def test_requests_that_had_to_queue_say_nothing_of_prefill() -> None:
    fit, chance = Fit(RIGHT), random.Random(3)

    for _ in range(200):
        turn = served(chance, beside_ms=5_000.0)
        fit.learn(replace(turn, first_token_ms=turn.first_token_ms + 5_000.0))

    # Only those large enough that 5 s beside them are next to nothing.
    assert fit.learnt["prefill"] < 0.1 * fit.learnt["decode"]
    assert fit.costs == RIGHT


def test_where_nobody_knows_what_was_moved_or_how_many_ran_that_side_learns_nothing() -> None:
    fit, chance = Fit(RIGHT), random.Random(4)

    for _ in range(100):
        fit.learn(replace(served(chance, off(*PREFILL, *DECODE, by=3.0)), moved_tokens=None, running=0.0))

    assert fit.learnt == {"prefill": 0, "decode": 0}
    assert fit.costs == RIGHT


def test_a_host_tier_is_known_once_it_is_seen_and_survives_a_fit() -> None:
    fit, chance = Fit(off(*PREFILL, by=3.0)), random.Random(5)
    fit.hosted(0)
    assert fit.costs.host_tokens == 0

    fit.hosted(64_000)
    fit.hosted(32_000)
    for _ in range(100):
        fit.learn(served(chance))

    assert fit.costs.host_tokens == 64_000
    assert fit.costs.prefill_token_us < fit.start.prefill_token_us


def test_what_is_corrected_are_prices_and_all_stay_positive() -> None:
    fit, chance = Fit(RIGHT), random.Random(6)

    for _ in range(1_000):
        fit.learn(replace(served(chance), first_token_ms=1e-6, answer_ms=1e-6))

    assert all(0.99e-3 <= getattr(fit.costs, price) / getattr(RIGHT, price) <= 1.01e3 for price in FITTED)
