"""Several frontends over one fleet, each with a router of its own."""

from collections import deque
from collections.abc import Callable
from functools import partial

from router.decision import Decision
from router.fleet import Fleet
from router.peers import Peers
from router.placement import Outcome, RouteRequest
from router.router import Router
from router.ticket import Ticket
from router.told import Told


class Frontends(Router):
    """Routers that take requests in turn, so that every session meets all of them; to a replay they are one.

    Args:
        make: Makes one of them, from what it is to tell others with.
        count: How many there are.
        late_ms: How long what they tell each other is on its way, ms; None for those that tell each other nothing.
        sticky: A session's requests all go to the same frontend, as a load balancer may have it.
    """

    def __init__(
        self,
        make: Callable[[Callable[[Told], None]], Router],
        count: int = 2,
        late_ms: float | None = None,
        *,
        sticky: bool = False,
    ) -> None:
        self._routers = [make(partial(self._tell_others, number)) for number in range(count)]
        super().__init__(self._routers[0].policy, self._routers[0].costs)
        self._peers = [Peers(router) for router in self._routers]
        self._late_ms = late_ms
        self._sticky = sticky
        self._said: deque[tuple[float, int, Told]] = deque()
        self._at: dict[str, Router] = {}
        self._now_ms = 0.0
        self._turn = 0

    def ticket(self, request_id: str) -> Ticket:
        """Return what is known of a request in flight."""
        return self._at[request_id].ticket(request_id)

    def place(self, request: RouteRequest, fleet: Fleet, now_ms: float) -> Decision:
        """Let the next frontend place a request."""
        for router in self._routers:
            router.meet(fleet)
        self._listen(now_ms)
        self._turn += 1
        turn = int(request.session) if self._sticky else self._turn
        router = self._at[request.request_id] = self._routers[turn % len(self._routers)]
        return router.place(request, fleet, now_ms)

    def first_token(self, request_id: str, now_ms: float) -> None:
        """Tell the frontend that placed the request."""
        self._listen(now_ms)
        self._at[request_id].first_token(request_id, now_ms)

    def finish(
        self,
        request_id: str,
        outcome: Outcome,
        now_ms: float,
        *,
        answer_tokens: int = 0,
        cached_tokens: int | None = None,
    ) -> Ticket:
        """Take the request off the books of the frontend that placed it."""
        self._listen(now_ms)
        router = self._at.pop(request_id)
        return router.finish(request_id, outcome, now_ms, answer_tokens=answer_tokens, cached_tokens=cached_tokens)

    def _tell_others(self, teller: int, told: Told) -> None:
        if self._late_ms is not None:
            self._said.append((self._now_ms, teller, told))

    def _listen(self, now_ms: float) -> None:
        self._now_ms = now_ms
        while self._said and self._said[0][0] + (self._late_ms or 0.0) <= now_ms:
            _, teller, told = self._said.popleft()
            for number, peers in enumerate(self._peers):
                if number != teller:
                    peers.hear(str(teller), told, now_ms)
