"""Policies that look at the load alone, or at nothing."""

from collections.abc import Sequence

from router.decision import Choice
from router.placement import RouteRequest
from router.ranks import Rank
from router.replay.baselines.ties import chance, cheapest
from router.views import DecodeView, RankView


class Random:
    """Any place, each as likely.

    Source: Dynamo 1.6.1, `--router-mode random`.

    Args:
        seed: Of the chance.
    """

    def __init__(self, seed: int) -> None:
        self._chance = chance(seed)

    def prefill(self, _request: RouteRequest, views: Sequence[RankView], _home: Rank | None, _now: float) -> Choice:
        """Take any rank."""
        return self._any([view.rank for view in views])

    def decode(self, _request: RouteRequest, views: Sequence[DecodeView], _home: Rank | None, _now: float) -> Choice:
        """Take any engine."""
        return self._any([view.rank for view in views])

    def _any(self, ranks: Sequence[Rank]) -> Choice:
        return Choice(self._chance.choice(ranks), "random") if ranks else Choice()


class LeastLoaded:
    """The place with the fewest requests in hand, whatever their length.

    Source: Dynamo 1.6.1, `--router-mode least-loaded`. Left out: Dynamo counts a worker's requests over all its ranks
    and lets the engine choose among them; here every rank is a place of its own.

    Args:
        seed: Of the ties.
    """

    def __init__(self, seed: int) -> None:
        self._ties = chance(seed)

    def prefill(self, _request: RouteRequest, views: Sequence[RankView], _home: Rank | None, _now: float) -> Choice:
        """Take a rank with the fewest requests whose prompts are not computed."""
        return Choice(cheapest(((view.rank, view.requests) for view in views), self._ties), "least-loaded")

    def decode(self, _request: RouteRequest, views: Sequence[DecodeView], _home: Rank | None, _now: float) -> Choice:
        """Take an engine with the fewest requests."""
        return Choice(cheapest(((view.rank, view.requests) for view in views), self._ties), "least-loaded")
