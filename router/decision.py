"""A decision, and why it fell as it did."""

import msgspec

from router.placement import Placement
from router.ranks import Rank


class Terms(msgspec.Struct, frozen=True):
    """What one candidate would cost, each term in ms.

    Attributes:
        compute: Prefill of what is cached nowhere, or on a decode engine the answer's own steps.
        move: Fetch from the host tier, or transfer of KV to a decode engine.
        wait: Work in hand before this request can start.
        crowding: Work that this session's memory will cost others here, and itself, by evictions to come.
        balance: Being ahead of the other ranks, for which they wait in every step.
    """

    compute: float = 0.0
    move: float = 0.0
    wait: float = 0.0
    crowding: float = 0.0
    balance: float = 0.0

    @property
    def total(self) -> float:
        """The sum, by which candidates compare."""
        return self.compute + self.move + self.wait + self.crowding + self.balance


class Candidate(msgspec.Struct, frozen=True):
    """One place that was weighed."""

    rank: Rank
    terms: Terms


class Choice(msgspec.Struct, frozen=True):
    """What was chosen for one side.

    Attributes:
        rank: The place; None when it is left to Dynamo.
        reason: Why, as a metric's label.
        candidates: Every place that was weighed, in the fleet's order; empty for policies that weigh nothing.
        margin_ms: How much dearer the best other place would have been; negative when the session stays where it is
            although another place is cheaper, by less than moving is worth.
    """

    rank: Rank | None = None
    reason: str = "unpinned"
    candidates: tuple[Candidate, ...] = ()
    margin_ms: float = 0.0


class Decision(msgspec.Struct, frozen=True):
    """Where a request goes and why: one choice a side."""

    prefill: Choice = Choice()
    decode: Choice = Choice()

    @property
    def placement(self) -> Placement:
        """The pins."""
        return Placement(self.prefill.rank, self.decode.rank)
