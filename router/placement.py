"""A request as the router sees it, the placement it gets, and the plain policy."""

from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from router.fleet import Fleet

Outcome = Literal["stop", "cancelled", "error"]


class RouteRequest(msgspec.Struct, frozen=True):
    """What a placement may depend on.

    Attributes:
        request_id: Unique among the requests in flight.
        model: Name of the served model.
        token_ids: The whole prompt, in tokens.
        session_id: The client's session where it named one; a hint, never an identity.
        max_tokens: Limit of the answer in tokens, where the client gave one.
        priority: Larger is more urgent; 0 when the client does not say.
    """

    request_id: str
    model: str
    token_ids: Sequence[int]
    session_id: str | None = None
    max_tokens: int | None = None
    priority: int = 0


class Placement(msgspec.Struct, frozen=True):
    """Where a request goes. A field left None is left to Dynamo's own router.

    Attributes:
        prefill_worker_id: Instance id of the prefill engine.
        prefill_dp_rank: Its data-parallel attention rank; never without a worker.
        decode_worker_id: Instance id of the decode engine.
        decode_dp_rank: Its rank, 0 for a TP-only engine; never without a worker.
        reason: Why, in a word or two, for logs and metrics.
    """

    prefill_worker_id: int | None = None
    prefill_dp_rank: int | None = None
    decode_worker_id: int | None = None
    decode_dp_rank: int | None = None
    reason: str = "unpinned"

    def routing(self) -> dict[str, int]:
        """Return the pins under the names of Dynamo 1.6.1's preprocessed request (``routing``)."""
        pins = {
            "prefill_worker_id": self.prefill_worker_id,
            "prefill_dp_rank": self.prefill_dp_rank,
            "decode_worker_id": self.decode_worker_id,
            "dp_rank": self.decode_dp_rank,
        }
        return {name: value for name, value in pins.items() if value is not None}


Policy = Callable[[RouteRequest, Fleet, float], Placement]


def plain(_request: RouteRequest, _fleet: Fleet, _now_ms: float) -> Placement:
    """Pin nothing: every choice is Dynamo's own KV router's."""
    return Placement()
