"""SGLang's cache-aware routing."""

from collections.abc import Sequence

from router.decision import Choice
from router.placement import NOTHING, RouteRequest
from router.ranks import Rank
from router.replay.baselines.ties import chance, cheapest
from router.views import DecodeView, RankView

_MATCH = 0.3
_ABSOLUTE, _RELATIVE = 64, 1.5


class CacheAware:
    """The longest match if it is long enough, else the smallest cache; the shortest queue once loads are far apart.

    Source: the SGLang gateway's `cache_aware` at its defaults: shortest queue where the most and the fewest requests of
    a worker differ by more than 64 and by more than 1.5 times; else the worker with the longest match if that is more
    than 0.3 of the prompt; else the worker with the smallest tree. Decode as its documentation sets up prefill and
    decode apart: `power_of_two`, the less loaded of two at random. Left out: the gateway keeps an approximate tree of
    the text it has sent where; here the match is what the rank has, and the tree's size what the rank's sessions take.

    Args:
        seed: Of the ties, and of the two decode engines.
    """

    def __init__(self, seed: int) -> None:
        self._chance = chance(seed)

    def prefill(self, request: RouteRequest, views: Sequence[RankView], _home: Rank | None, _now: float) -> Choice:
        """Take the rank that the rule names."""
        if not views:
            return Choice()
        loads = [view.requests for view in views]
        if max(loads) - min(loads) > _ABSOLUTE and max(loads) > _RELATIVE * min(loads):
            return Choice(cheapest(((view.rank, view.requests) for view in views), self._chance), "shortest-queue")
        matches = [(view.rank, request.overlaps.get(view.rank, NOTHING).device) for view in views]
        if max(match for _, match in matches) > _MATCH * request.prompt_tokens:
            return Choice(cheapest(((rank, -match) for rank, match in matches), self._chance), "match")
        return Choice(cheapest(((view.rank, view.residents.tokens) for view in views), self._chance), "smallest-tree")

    def decode(self, _request: RouteRequest, views: Sequence[DecodeView], _home: Rank | None, _now: float) -> Choice:
        """Take the less loaded of two engines."""
        if not views:
            return Choice()
        two = self._chance.sample(views, min(2, len(views)))
        return Choice(cheapest(((view.rank, view.requests) for view in two), self._chance), "power-of-two")
