"""llm-d's prefix-cache affinity filter."""

from collections.abc import Sequence
from typing import NamedTuple

from router.costs import Costs
from router.decision import Choice
from router.placement import NOTHING, RouteRequest
from router.ranks import Rank
from router.replay.baselines.ties import chance, cheapest
from router.views import DecodeView, RankView

_AFFINITY = 0.80
_PENALTY_MS = 18_000.0


class _Endpoint(NamedTuple):
    rank: Rank
    matched_tokens: int
    tokens_in_flight: int


class AffinityFilter:
    """The fewest tokens in flight among the places that have most of the prompt, or among all where those lag too far.

    Source: llm-d-router's `optimized-baseline` profile at its defaults: `prefix-cache-affinity-filter` keeps the
    endpoints that have at least 0.80 of the prompt, all of them where none has, and all again where the best of the
    kept would take over 18 s longer to a first token than the best of the others (tokens in flight over the peak
    prefill throughput); no exploration; then `token-load-scorer` with the highest score. The throughput is the modelled
    rank's, where llm-d calibrates one for each deployment. Both roles have the profile, decode by what it keeps of the
    session. Left out: that llm-d chooses decode first, and sends short prompts there directly.

    Args:
        costs: What a rank's prefill takes.
        seed: Of the ties.
    """

    def __init__(self, costs: Costs, seed: int) -> None:
        self._ties = chance(seed)
        budget = costs.budget_tokens
        self._token_ms = (costs.prefill_ms(budget, budget) + costs.step_ms) / budget

    def prefill(self, request: RouteRequest, views: Sequence[RankView], _home: Rank | None, _now: float) -> Choice:
        """Filter, then take the rank with the fewest new tokens in hand."""
        endpoints = [
            _Endpoint(view.rank, request.overlaps.get(view.rank, NOTHING).device, view.waiting_tokens) for view in views
        ]
        return self._choose(request.prompt_tokens, endpoints)

    def decode(self, request: RouteRequest, views: Sequence[DecodeView], _home: Rank | None, _now: float) -> Choice:
        """Filter, then take the engine with the fewest tokens."""
        endpoints = [_Endpoint(view.rank, view.kept_tokens, view.tokens) for view in views]
        return self._choose(request.prompt_tokens, endpoints)

    def _choose(self, prompt_tokens: int, endpoints: Sequence[_Endpoint]) -> Choice:
        sticky = [each for each in endpoints if each.matched_tokens >= _AFFINITY * prompt_tokens]
        others = [each for each in endpoints if each.matched_tokens < _AFFINITY * prompt_tokens]
        if sticky and others:
            lag = min(each.tokens_in_flight for each in sticky) - min(each.tokens_in_flight for each in others)
            if lag * self._token_ms > _PENALTY_MS:
                return self._least(endpoints, "gate")
        return self._least(sticky, "affinity") if sticky else self._least(endpoints, "load")

    def _least(self, endpoints: Sequence[_Endpoint], reason: str) -> Choice:
        return Choice(cheapest(((each.rank, each.tokens_in_flight) for each in endpoints), self._ties), reason)
