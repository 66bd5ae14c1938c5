"""Where a request may go at all: what its client pinned, and where it has just failed."""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

import msgspec

from router import Choice, Policy, Rank, RouteRequest
from router.views import DecodeView, RankView


class Pin(msgspec.Struct, frozen=True):
    """What a client asks of one side: a worker, a rank, both or neither."""

    worker_id: int | None = None
    dp_rank: int | None = None

    def __bool__(self) -> bool:
        return self != Pin()

    def allows(self, rank: Rank) -> bool:
        """Tell whether a place is what the client asks for."""
        return self.worker_id in {None, rank.worker_id} and self.dp_rank in {None, rank.dp_rank}


class Pins(msgspec.Struct, frozen=True):
    """What a client asks of both sides."""

    prefill: Pin = Pin()
    decode: Pin = Pin()

    def __bool__(self) -> bool:
        return bool(self.prefill) or bool(self.decode)

    def routing(self) -> dict[str, int]:
        """Return them as the client gave them, under the names of Dynamo's preprocessed request."""
        given = {
            "prefill_worker_id": self.prefill.worker_id,
            "prefill_dp_rank": self.prefill.dp_rank,
            "decode_worker_id": self.decode.worker_id,
            "dp_rank": self.decode.dp_rank,
        }
        return {name: value for name, value in given.items() if value is not None}


class LimitedRequest(RouteRequest, frozen=True):
    """A request that may not go everywhere.

    Attributes:
        pins: What the client asks for; it wins.
        avoid: Workers at which the request has failed.
    """

    pins: Pins = Pins()
    avoid: frozenset[int] = frozenset()


class _View(Protocol):
    @property
    def rank(self) -> Rank: ...


V = TypeVar("V", bound=_View)


class Limited:
    """A policy that chooses among the places where the request may go, and leaves a side open that has none.

    Args:
        policy: Chooses.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    def prefill(self, request: RouteRequest, views: Sequence[RankView], home: Rank | None, now_ms: float) -> Choice:
        """Choose a prefill rank."""
        return _among(request, "prefill", views, lambda some: self._policy.prefill(request, some, home, now_ms))

    def decode(self, request: RouteRequest, views: Sequence[DecodeView], home: Rank | None, now_ms: float) -> Choice:
        """Choose a decode engine."""
        return _among(request, "decode", views, lambda some: self._policy.decode(request, some, home, now_ms))


def _among(request: RouteRequest, side: str, views: Sequence[V], choose: Callable[[Sequence[V]], Choice]) -> Choice:
    if not isinstance(request, LimitedRequest):
        return choose(views)
    pin: Pin = getattr(request.pins, side)
    allowed = [view for view in views if pin.allows(view.rank) and view.rank.worker_id not in request.avoid]
    choice = choose(allowed)
    if pin:
        return msgspec.structs.replace(choice, reason="pinned")
    return msgspec.structs.replace(choice, reason="avoided") if len(allowed) < len(views) else choice
