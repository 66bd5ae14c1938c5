"""How a replay went over time: the series that are drawn."""

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from router.replay.measures import Served

_Floats = NDArray[np.float64]

_POINTS = 400
"""Of a line: more than a plot has room for are left out."""


class Series(msgspec.Struct, frozen=True):
    """One run over time. All but the last two have a value at each of `requests`.

    Attributes:
        requests: How many requests had arrived, in steps.
        reuse: Prompt tokens found cached over prompt tokens, from the start until then.
        ideal: The same with an endless cache.
        pooled: The same with one LRU cache as large as all ranks' together.
        imbalance: New tokens of the busiest rank over the mean rank's, from the start until then.
        rank_load: New tokens of each rank over the mean rank's, at the end.
        ttft_s: Time to first token at 0, 1, … 100 % of the requests, s.
    """

    requests: _Floats
    reuse: _Floats
    ideal: _Floats
    pooled: _Floats
    imbalance: _Floats
    rank_load: _Floats
    ttft_s: _Floats


def series(served: Sequence[Served], ranks: int) -> Series:
    """Trace a run through its requests, in the order of their arrival.

    Args:
        served: Every request; one at least.
        ranks: Prefill ranks of all engines.
    """
    ordered = sorted(served, key=lambda each: each.arrival_ms)
    prompts = _column([each.prompt_tokens for each in ordered])
    found = _column([each.device_tokens + each.host_tokens for each in ordered])
    computed = np.zeros((len(ordered), ranks))
    computed[np.arange(len(ordered)), [each.rank for each in ordered]] = prompts - found
    loads = np.cumsum(computed, axis=0)
    steps = np.unique(np.linspace(0, len(ordered) - 1, _POINTS).astype(int))
    asked = np.cumsum(prompts)[steps]
    mean = np.maximum(1.0, loads[steps].mean(axis=1))
    return Series(
        requests=steps + 1.0,
        reuse=np.cumsum(found)[steps] / asked,
        ideal=np.cumsum([each.ideal_tokens for each in ordered])[steps] / asked,
        pooled=np.cumsum([each.pooled_tokens for each in ordered])[steps] / asked,
        imbalance=loads[steps].max(axis=1) / mean,
        rank_load=loads[-1] / mean[-1],
        ttft_s=np.percentile([each.first_token_ms - each.arrival_ms for each in ordered], np.arange(101)) / 1e3,
    )


def _column(values: Sequence[int]) -> _Floats:
    return np.asarray(values, dtype=np.float64)
