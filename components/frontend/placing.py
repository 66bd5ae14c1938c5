"""Chooses the places of one model's requests: who is alive, what is cached where, and the router's policy."""

import logging
import time
from collections import deque
from collections.abc import Callable

import msgspec
import numpy as np

from components.frontend.arrivals import Arrivals
from components.frontend.blame import Blame
from components.frontend.fleet import Roster
from components.frontend.health import now_ms
from components.frontend.limits import LimitedRequest, Pins
from components.frontend.overlaps import Index, Overlaps
from components.frontend.pairs import Prompt, Tokens
from components.frontend.placed import Placed
from components.frontend.router_metrics import RouterMetrics
from router import Decision, Fleet, Overlap, Router
from router.peers import Peers
from router.told import Told

log = logging.getLogger(__name__)

REMEMBERED = 50
"""Decisions that `/router/state` shows."""

PATIENCE_S = 10.0
"""How long a request waits for a side that has no worker left, in s; a mock engine is back within 4."""

WARM_S = 1.0


class Placing:
    """Places one model's requests.

    Args:
        model: The model.
        router: Its policy heeds limits.
        metrics: Counts decisions.
        roster: The fleet; None leaves every choice to Dynamo.
        make_index: Makes the index once the workers' block size is known: of the decode endpoint, or else of the
            prefill endpoint, and in blocks of so many tokens.
        streams: Returns how many requests the process has in flight, of all models; by default this one's.
    """

    def __init__(
        self,
        model: str,
        router: Router,
        metrics: RouterMetrics,
        roster: Roster | None = None,
        make_index: Callable[[bool, int], Index] | None = None,
        *,
        streams: Callable[[], int] | None = None,
    ) -> None:
        self.model = model
        self.router = router
        self.metrics = metrics
        self.roster = roster
        self.streams = streams or (lambda: router.in_flight)
        self.placed: deque[Placed] = deque(maxlen=REMEMBERED)
        self.peers = Peers(router)
        self._make_index = make_index
        self._index: Index | None = None
        self._has_events = False
        self.blame = None if roster is None else Blame(model, roster, metrics)
        self._arrivals = Arrivals(self._missing)

    async def warm(self) -> None:
        """Wait for the first workers' cards, a second at most, and begin to index what is cached with them."""
        await self._arrivals.wait(WARM_S)
        for side in self._arrivals.missing():
            log.warning("%s: no %s workers are seen: that side is left to Dynamo", self.model, side)
        await self._indexed(Prompt(np.empty(0, np.uint32)))

    def prepare(self, token_ids: Tokens) -> Prompt:
        """Make a prompt ready for `place`, on any thread; without it, the event loop does it there."""
        return Prompt(token_ids) if self._index is None else self._index.prepare(token_ids)

    async def place(self, request: LimitedRequest, prompt: Prompt) -> Placed:
        """Choose the places of a request and book it; `router.finish` must follow.

        Where a side has lost its last worker, the request waits for the next one, which a supervisor starts.

        Args:
            request: The request.
            prompt: Its prompt.
        """
        if self._arrivals.lost():
            await self._arrivals.wait(PATIENCE_S)
        started = time.perf_counter()
        overlaps = await self._overlaps(request, prompt)
        fleet = self._fleet()
        pins = request.pins
        if self.roster is not None and self.roster.aggregated:
            # The one side there is, by the names that Dynamo has for it.
            pins = Pins(prefill=pins.decode)
        asked = msgspec.structs.replace(request, overlaps=overlaps, pins=pins)
        decision = self.router.place(asked, fleet, now_ms())
        placed = self._placed(request, decision)
        placed.took_ms = (time.perf_counter() - started) * 1e3
        self.placed.append(placed)
        self.metrics.placed(self.model, placed)
        return placed

    def meet(self) -> None:
        """Open and close the router's books by who is alive."""
        self.router.meet(self._fleet())

    def hear(self, peer: str, told: Told) -> None:
        """Book what another frontend tells."""
        self.meet()
        self.peers.hear(peer, told, now_ms())

    def lost(self, peer: str) -> None:
        """Take another frontend's requests off the books."""
        self.peers.lost(peer, now_ms())

    def _fleet(self) -> Fleet:
        if self.roster is None or self.blame is None:
            return Fleet()
        self.blame.try_again()
        return self.roster.fleet()

    def _missing(self) -> set[str]:
        if self.roster is None:
            return set()
        fleet = self._fleet()
        sides = {"prefill": fleet.prefill, "decode": fleet.decode or self.roster.aggregated}
        return {side for side, workers in sides.items() if not workers}

    async def _overlaps(self, request: LimitedRequest, prompt: Prompt) -> Overlaps:
        found = await self._indexed(prompt)
        self._has_events = self._has_events or bool(found)
        return found if self._has_events else self._assumed(request)

    async def _indexed(self, prompt: Prompt) -> Overlaps:
        if self.roster is None or self._make_index is None or not self._fleet().prefill:
            return {}
        try:
            if self._index is None:
                self._index = self._make_index(self.roster.aggregated, self.roster.block_size)
            return await self._index.find(prompt)
        except Exception:
            # Better a placement by load alone than none.
            log.exception("the index of cached prompts does not answer")
            return {}

    def _assumed(self, request: LimitedRequest) -> Overlaps:
        """Return what the books say of the session, for workers that publish no KV events."""
        session = self.router.sessions.get(request.session)
        home = None if session is None else session.prefill
        if home is None or (book := self.router.prefill.get(home)) is None:
            return {}
        return {home: Overlap(min(request.prompt_tokens, book.residents.kept(request.session)))}

    def _placed(self, request: LimitedRequest, decision: Decision) -> Placed:
        ticket, rank = self.router.ticket(request.request_id), decision.prefill.rank
        return Placed(
            decision=decision,
            routing={**self._routing(decision), **request.pins.routing()},
            session=request.session,
            prompt_tokens=request.prompt_tokens,
            # What the router counts on: of a store that the index does not see it has a book.
            overlap=Overlap() if rank is None else ticket.request.overlaps.get(rank, Overlap()),
            expected_ms=ticket.expected_ms,
            took_ms=0.0,
            at=time.time(),
        )

    def _routing(self, decision: Decision) -> dict[str, int]:
        rank = decision.prefill.rank
        if self.roster is not None and self.roster.aggregated:
            return {} if rank is None else {"decode_worker_id": rank.worker_id, "dp_rank": rank.dp_rank}
        return decision.placement.routing()

    def first_token(self, request_id: str, placed: Placed) -> None:
        """Note that a placement's workers have brought the first token."""
        now = now_ms()
        placed.first_token_ms = now - self.router.ticket(request_id).placed_ms
        self.router.first_token(request_id, now)
        self.metrics.first_token(self.model, placed)
        if self.blame is not None:
            self.blame.served(placed.workers)
