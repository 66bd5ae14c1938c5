"""A request as the router sees it, and the placement it gets."""

from collections.abc import Mapping
from typing import Literal

import msgspec

from router.ranks import Rank

Outcome = Literal["stop", "cancelled", "error"]


class Overlap(msgspec.Struct, frozen=True):
    """How much of a prompt one rank need not compute.

    Attributes:
        device: Tokens found in the rank's own memory, from the prompt's start.
        host: Tokens that follow them and lie in the host tier.
    """

    device: int = 0
    host: int = 0


NOTHING = Overlap()


class RouteRequest(msgspec.Struct, frozen=True):
    """What a placement may depend on.

    Attributes:
        request_id: Unique among the requests in flight.
        model: Name of the served model.
        session: Key of the session that the request belongs to; every request has one, if only its own.
        prompt_tokens: Length of the prompt, tokens.
        overlaps: What is cached of it, by prefill rank; a rank that is not named has nothing.
        max_tokens: Limit of the answer in tokens, where the client gave one.
        priority: Larger is more urgent; 0 when the client does not say, below 0 for work that can wait.
    """

    request_id: str
    model: str = ""
    session: str = ""
    prompt_tokens: int = 0
    overlaps: Mapping[Rank, Overlap] = {}
    max_tokens: int | None = None
    priority: int = 0


class Placement(msgspec.Struct, frozen=True):
    """Where a request goes. A side left None is left to Dynamo's own router.

    Attributes:
        prefill: The prefill rank.
        decode: The decode engine, and its rank.
    """

    prefill: Rank | None = None
    decode: Rank | None = None

    def routing(self) -> dict[str, int]:
        """Return the pins under the names of Dynamo 1.6.1's preprocessed request (``routing``)."""
        pins: dict[str, int] = {}
        if self.prefill is not None:
            pins |= {"prefill_worker_id": self.prefill.worker_id, "prefill_dp_rank": self.prefill.dp_rank}
        if self.decode is not None:
            pins |= {"decode_worker_id": self.decode.worker_id, "dp_rank": self.decode.dp_rank}
        return pins
