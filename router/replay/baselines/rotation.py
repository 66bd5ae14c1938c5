"""In turn, whatever the request: the floor that every other policy has to beat."""

from collections.abc import Sequence

from router.decision import Choice
from router.placement import RouteRequest
from router.ranks import Rank
from router.views import DecodeView, RankView


class RoundRobin:
    """Each side takes its places in turn, all ranks of all engines as one list.

    Source: Dynamo 1.6.1, `--router-mode round-robin` as its offline replay has it (`PoolRoundRobinPlacement` of
    aisimulate-core 0.13.0). Left out: Dynamo chooses the decode engine when the prompt is computed, not before.
    """

    def __init__(self) -> None:
        self._prefills = 0
        self._decodes = 0

    def prefill(self, _request: RouteRequest, views: Sequence[RankView], _home: Rank | None, _now: float) -> Choice:
        """Take the next rank."""
        self._prefills += 1
        return _turn([view.rank for view in views], self._prefills)

    def decode(self, _request: RouteRequest, views: Sequence[DecodeView], _home: Rank | None, _now: float) -> Choice:
        """Take the next engine."""
        self._decodes += 1
        return _turn([view.rank for view in views], self._decodes)


def _turn(ranks: Sequence[Rank], count: int) -> Choice:
    return Choice(ranks[(count - 1) % len(ranks)], "turn") if ranks else Choice()
