"""The router: asks the policy and keeps the book of what is in flight."""

import msgspec

from router.fleet import Fleet
from router.placement import Outcome, Placement, Policy, RouteRequest


class Ticket(msgspec.Struct):
    """One request in flight.

    Attributes:
        placement: Where it went.
        placed_ms: When it was placed, in the caller's milliseconds.
        first_token_ms: When its first token came back, None before.
    """

    placement: Placement
    placed_ms: float
    first_token_ms: float | None = None


class Router:
    """Places requests by a policy and accounts for them until they end.

    Every placed request must be finished exactly once, whatever became of it.

    Args:
        policy: Pure function of the request, the fleet and the time.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._in_flight: dict[str, Ticket] = {}
        self.finished: dict[Outcome, int] = {"stop": 0, "cancelled": 0, "error": 0}

    @property
    def in_flight(self) -> int:
        """Requests placed and not yet finished."""
        return len(self._in_flight)

    def place(self, request: RouteRequest, fleet: Fleet, now_ms: float) -> Placement:
        """Choose where the request goes and book it.

        Raises:
            ValueError: If a request of this id is already in flight.
        """
        if request.request_id in self._in_flight:
            raise ValueError(f"request {request.request_id!r} is already in flight: finish it first")
        placement = self._policy(request, fleet, now_ms)
        self._in_flight[request.request_id] = Ticket(placement, now_ms)
        return placement

    def first_token(self, request_id: str, now_ms: float) -> None:
        """Note that the request's prefill is done: its first token arrived."""
        ticket = self._in_flight[request_id]
        if ticket.first_token_ms is None:
            ticket.first_token_ms = now_ms

    def finish(self, request_id: str, outcome: Outcome) -> Ticket:
        """Take the request off the book and return what was known of it.

        Raises:
            KeyError: If no request of this id is in flight.
        """
        ticket = self._in_flight.pop(request_id)
        self.finished[outcome] += 1
        return ticket
