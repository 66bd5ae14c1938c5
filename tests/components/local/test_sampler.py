import math
import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

from components.local import sampler
from components.local.request import Request
from components.local.vocabulary import Vocabulary

WEIGHTS = np.array([0.0, 4.0, 1.0, 0.0, 3.0, 2.0, 0.0])


def counts(draws: int = 4000, **options: Any) -> Counter[int]:
    request = Request(prompt=[], max_tokens=1, **options)
    rng = random.Random(0)
    return Counter(sampler.choose(WEIGHTS, request, rng) for _ in range(draws))


def test_tokens_are_drawn_in_proportion_and_never_one_without_weight() -> None:
    found = counts()
    assert set(found) == {1, 2, 4, 5}
    for token in found:
        assert found[token] / 4000 == pytest.approx(WEIGHTS[token] / 10, abs=0.03)


def test_the_ends_of_the_random_range_draw_tokens_with_weight() -> None:
    class Fixed(random.Random):
        def random(self) -> float:
            return self.value

        value = 0.0

    rng = Fixed()
    for value, token in ((0.0, 5), (1 - 2**-53, 1)):
        rng.value = value
        assert sampler.choose(WEIGHTS, Request(prompt=[], max_tokens=1), rng) == token


@pytest.mark.parametrize("options", [{"temperature": 0.0}, {"temperature": 1e-9}, {"top_k": 1}, {"top_p": 0.0}])
def test_greedy_takes_the_likeliest(options: dict[str, float]) -> None:
    assert set(counts(50, **options)) == {1}


def test_temperature_sharpens_and_flattens() -> None:
    assert counts(temperature=0.3)[1] > counts()[1] > counts(temperature=5.0)[1]


def test_a_tiny_temperature_does_not_overflow() -> None:
    assert set(counts(50, temperature=0.002)) == {1}


def test_top_k_keeps_the_k_likeliest() -> None:
    assert set(counts(top_k=2)) == {1, 4}
    assert set(counts(top_k=100)) == {1, 2, 4, 5}


def test_top_p_keeps_the_least_set_that_reaches_the_share() -> None:
    assert set(counts(top_p=0.4)) == {1}
    assert set(counts(top_p=0.5)) == {1, 4}
    assert set(counts(top_p=0.95)) == {1, 2, 4, 5}


def test_log_probabilities_are_of_the_whole() -> None:
    assert sampler.log_probability(WEIGHTS, 1) == pytest.approx(math.log(0.4))


def test_alternatives_are_ranked_and_hold_the_chosen_token_last(vocabulary: Vocabulary) -> None:
    found = sampler.alternatives(WEIGHTS, 2, 2, vocabulary)
    assert [(entry["rank"], entry["token_id"]) for entry in found] == [(1, 1), (2, 4), (4, 2)]
    assert found[0]["logprob"] == pytest.approx(math.log(0.4))
    assert bytes(found[0]["bytes"]) == vocabulary.data[1]
    assert found[0]["token"] == vocabulary.texts[1]


def test_a_chosen_token_among_the_likeliest_is_listed_once(vocabulary: Vocabulary) -> None:
    assert [entry["token_id"] for entry in sampler.alternatives(WEIGHTS, 4, 2, vocabulary)] == [1, 4]
