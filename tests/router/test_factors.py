"""The estimator: how far off each part of a sum is."""

import math
import random
import time

import pytest

from router.factors import BOUND, Factors


def factors(learnt: Factors) -> list[float]:
    return [math.exp(log) for log in learnt.logs]


def feed(learnt: Factors, true: tuple[float, ...], count: int, seed: int = 0) -> None:
    """Let it learn from sums of parts at random, whose measured values scatter."""
    chance = random.Random(seed)
    for _ in range(count):
        parts = [chance.uniform(0.0, 100.0) for _ in true]
        exact = sum(part * factor for part, factor in zip(parts, true, strict=True))
        learnt.learn(parts, exact * math.exp(chance.gauss(0.0, 0.2)))


@pytest.mark.parametrize("true", [(3.0, 3.0, 3.0), (1 / 3, 1 / 3, 1 / 3), (1.0, 3.0, 1.0), (0.5, 1.0, 2.0)])
def test_factors_are_found_from_sums_alone(true: tuple[float, ...]) -> None:
    learnt = Factors(3)
    feed(learnt, true, 150)

    assert factors(learnt) == pytest.approx(true, rel=0.25)


def test_a_factor_that_has_no_part_in_a_sum_stays_what_it_was_and_as_sure() -> None:
    learnt = Factors(2)
    feed(learnt, (2.0, 0.5), 100)
    before, sure = factors(learnt)[1], learnt.unsure(1)

    for _ in range(3_000):
        learnt.learn((12.0, 0.0), 24.0)

    assert factors(learnt)[1] == pytest.approx(before, rel=0.05)
    assert learnt.unsure(1) < 1.1 * sure


def test_a_change_is_followed_within_a_hundred_sums() -> None:
    learnt = Factors(2)
    feed(learnt, (1.0, 1.0), 1000)
    feed(learnt, (3.0, 3.0), 100, seed=1)

    assert factors(learnt) == pytest.approx((3.0, 3.0), rel=0.25)


def test_one_sum_in_ten_that_takes_a_hundred_times_as_long_moves_little() -> None:
    learnt = Factors(2)
    for seed in range(30):
        feed(learnt, (2.0, 0.5), 9, seed)
        learnt.learn((50.0, 50.0), 100 * 125.0)

    assert factors(learnt) == pytest.approx((2.0, 0.5), rel=0.35)


def test_factors_stay_positive_and_within_bounds() -> None:
    learnt = Factors(2)
    for _ in range(1000):
        learnt.learn((10.0, 1.0), 1e-9)
    assert all(factor * BOUND >= 0.999999 for factor in factors(learnt))

    for _ in range(2000):
        learnt.learn((10.0, 1.0), 1e12)
    assert all(factor <= BOUND * 1.000001 for factor in factors(learnt))


def test_sums_of_nothing_teach_nothing() -> None:
    learnt = Factors(2)
    learnt.learn((0.0, 0.0), 10.0)
    learnt.learn((10.0, 10.0), 0.0)

    assert factors(learnt) == [1.0, 1.0]


def test_a_sum_takes_microseconds() -> None:
    learnt = Factors(5)
    begun = time.process_time()
    feed(learnt, (1.0, 2.0, 0.5, 1.0, 1.0), 1000)

    assert time.process_time() - begun < 0.2
