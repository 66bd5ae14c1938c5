"""Chooses one token by weight, and tells how likely it was."""

import math
import random
from typing import Any

import numpy as np
import numpy.typing as npt

from components.local.language import Weights
from components.local.request import Request
from components.local.vocabulary import Vocabulary

# Below it 1 / temperature overflows; nobody means anything but greedy by it.
_GREEDY = 1e-3
# Enough for almost every `top_p` and much cheaper than sorting a vocabulary.
_USUAL_TOP = 128


def choose(weights: Weights, request: Request, rng: random.Random) -> int:
    """Return a token drawn by `temperature`, `top_k` and `top_p`; one of weight 0 is never drawn.

    Args:
        weights: Relative probabilities at temperature 1, shape (vocabulary,); they need not add up to 1, and at least
            one is positive.
        request: Holds the sampling parameters.
        rng: Asked for one number.
    """
    point = 1.0 - rng.random()
    if request.temperature < _GREEDY or request.top_k == 1:
        return int(weights.argmax())
    if request.temperature != 1.0:
        weights = (weights / weights.max()) ** (1.0 / request.temperature)
    if request.top_k or request.top_p < 1.0:
        return _choose_from_top(weights, request, point)
    return _draw(weights.cumsum(), point)


def _choose_from_top(weights: Weights, request: Request, point: float) -> int:
    kept = _heaviest(weights, request.top_k or _USUAL_TOP)
    totals = weights[kept].cumsum()
    share = request.top_p * (totals[-1] if request.top_k else weights.sum())
    if totals[-1] < share:
        kept = _heaviest(weights, len(weights))
        totals = weights[kept].cumsum()
    # The token that carries the sum over the share is kept as well.
    end = int(totals.searchsorted(share)) + 1
    return int(kept[_draw(totals[:end], point)])


def _heaviest(weights: Weights, count: int) -> npt.NDArray[np.intp]:
    """Return the indices of the `count` greatest weights, greatest first."""
    count = min(count, len(weights))
    found = np.argpartition(weights, len(weights) - count)[len(weights) - count :]
    return found[np.argsort(-weights[found], kind="stable")]


def _draw(totals: Weights, point: float) -> int:
    """Return the first index whose running total reaches a share in (0, 1] of the whole."""
    return int(totals.searchsorted(point * totals[-1]))


def log_probability(weights: Weights, token: int) -> float:
    """Return the natural logarithm of a token's share of all weights."""
    return math.log(weights[token] / weights.sum())


def alternatives(weights: Weights, token: int, count: int, vocabulary: Vocabulary) -> list[dict[str, Any]]:
    """Return the likeliest tokens and the chosen one as Dynamo's `top_logprobs` entries, best first."""
    ranked = [(rank, int(found)) for rank, found in enumerate(_heaviest(weights, count), 1)]
    if all(found != token for _, found in ranked):
        ranked.append((int((weights > weights[token]).sum()) + 1, token))
    return [
        {
            "rank": rank,
            "token_id": found,
            "token": vocabulary.texts[found],
            "bytes": list(vocabulary.data[found]),
            "logprob": log_probability(weights, found),
        }
        for rank, found in ranked
    ]
