"""What a policy is, and the one that decides nothing."""

from collections.abc import Sequence
from typing import Protocol

from router.decision import Choice
from router.placement import RouteRequest
from router.ranks import Rank
from router.views import DecodeView, RankView


class Policy(Protocol):
    """Chooses the two places of a request. Pure: what it knows is what it is given."""

    def prefill(self, request: RouteRequest, views: Sequence[RankView], home: Rank | None, now_ms: float) -> Choice:
        """Choose a prefill rank; `home` is where the session was last, if that still lives."""

    def decode(self, request: RouteRequest, views: Sequence[DecodeView], home: Rank | None, now_ms: float) -> Choice:
        """Choose a decode engine; `home` is where the session's last answer was written, if that still lives."""


class Plain:
    """Pins nothing: every choice is Dynamo's own router's."""

    def prefill(self, _request: RouteRequest, _views: Sequence[RankView], _home: Rank | None, _now: float) -> Choice:
        """Leave it open."""
        return Choice()

    def decode(self, _request: RouteRequest, _views: Sequence[DecodeView], _home: Rank | None, _now: float) -> Choice:
        """Leave it open."""
        return Choice()
