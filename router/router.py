"""The router: asks the policy, and keeps the book of sessions, ranks and requests in flight."""

import math
from collections import OrderedDict
from collections.abc import Callable

from router.book import DecodeBook, RankBook
from router.costs import Costs
from router.decision import Decision
from router.fit import Fit
from router.fleet import Fleet, Worker
from router.foreign import Published
from router.found import found_home
from router.observation import Observation
from router.placement import NOTHING, Outcome, RouteRequest
from router.policy import Policy
from router.ranks import Rank
from router.store import Store
from router.ticket import Session, Ticket
from router.told import Booked, Computed, Left, Told
from router.views import decode_views, rank_views


class Router:
    """Places requests by a policy and accounts for them until they end.

    Every placed request must be finished exactly once, whatever became of it.

    Args:
        policy: Chooses the places.
        prices: What the work in hand is counted in; a `Fit`, which the policy should have as well, is told of every
            request that was served.
        half_life_s: In which half of a rank's past work is forgotten, s.
        store: What a store behind all prefill ranks holds, where there is one that the index does not see.
        sessions: Most sessions that are remembered; the least recently used is forgotten first.
    """

    def __init__(
        self,
        policy: Policy,
        prices: Costs | Fit | None = None,
        *,
        half_life_s: float = 3600.0,
        store: Store | None = None,
        sessions: int = 10_000,
        tell: Callable[[Told], None] = lambda _told: None,
    ) -> None:
        self.policy = policy
        self.prices = prices or Costs()
        self.finished: dict[Outcome, int] = {"stop": 0, "cancelled": 0, "error": 0}
        self.sessions: OrderedDict[str, Session] = OrderedDict()
        self.prefill: dict[Rank, RankBook] = {}
        self.decode: dict[Rank, DecodeBook] = {}
        self._half_life_ms = half_life_s * 1e3
        self._store = store
        self._most_sessions = sessions
        self._tell = tell
        self._fleet = Fleet()
        self._in_flight: dict[str, Ticket] = {}

    @property
    def costs(self) -> Costs:
        """The prices in force."""
        return self.prices.costs

    @property
    def in_flight(self) -> int:
        """Requests placed and not yet finished."""
        return len(self._in_flight)

    def ticket(self, request_id: str) -> Ticket:
        """Return what is known of a request in flight.

        Raises:
            KeyError: If no request of this id is in flight.
        """
        return self._in_flight[request_id]

    def place(self, request: RouteRequest, fleet: Fleet, now_ms: float) -> Decision:
        """Choose where the request goes and book it.

        Raises:
            ValueError: If a request of this id is already in flight.
        """
        if request.request_id in self._in_flight:
            raise ValueError(f"request {request.request_id!r} is already in flight: finish it first")
        self.meet(fleet)
        request = self._with_host_tier(request)
        session = self._session(request.session, now_ms)
        self._find(request, session, now_ms)
        ranks = rank_views(self.prefill, request, self.costs, now_ms)
        engines = decode_views(self.decode, request, now_ms)
        decision = Decision(
            self.policy.prefill(request, ranks, session.prefill, now_ms),
            self.policy.decode(request, engines, session.decode, now_ms),
        )
        ticket = self._in_flight[request.request_id] = Ticket(request, decision, now_ms)
        self.book(ticket)
        rank = decision.prefill.rank
        self._tell(_booked(ticket, 0 if rank is None else self._new_tokens(request, rank)))
        return decision

    def first_token(self, request_id: str, now_ms: float) -> None:
        """Note that the request's prompt is computed: its first token arrived. Its session lives there now."""
        ticket = self._in_flight[request_id]
        if ticket.first_token_ms is None:
            self.computed(ticket, now_ms)
            self._tell(Computed(request_id))

    def book(self, ticket: Ticket) -> None:
        """Book a request that was placed, here or by another router, at ranks of this fleet."""
        session = self._session(ticket.request.session, ticket.placed_ms)
        session.prompt_tokens = ticket.request.prompt_tokens
        self._book_decode(ticket)
        self._book_prefill(ticket)

    def computed(self, ticket: Ticket, now_ms: float) -> None:
        """Note the first token of a booked request: its session lives on its ranks now."""
        request_id = ticket.request.request_id
        ticket.first_token_ms = now_ms
        if (decoder := self._decoder(ticket)) is not None:
            ticket.run_ms = decoder.begin(request_id, now_ms)
        if self._store is not None:
            self._store.use(ticket.request.session, ticket.request.prompt_tokens, now_ms)
        rank = ticket.decision.prefill.rank
        if rank is None:
            return
        if (book := self.prefill.get(rank)) is not None:
            book.computed(request_id)
            book.others.in_hand.leave(request_id, now_ms)
            ticket.beside_ms += self._engine_ms(rank.worker_id)[1]
        self._live(ticket.request.session, self._session(ticket.request.session, now_ms), rank)

    def finish(
        self,
        request_id: str,
        outcome: Outcome,
        now_ms: float,
        *,
        answer_tokens: int = 0,
        cached_tokens: int | None = None,
    ) -> Ticket:
        """Take the request off the book and return what was known of it.

        Args:
            request_id: The request's id.
            outcome: How it ended.
            now_ms: The time, in ms.
            answer_tokens: Length of the answer.
            cached_tokens: How much of the prompt the engine found cached, where it says so: what was booked by the
                overlap at the time of placing is put right.

        Raises:
            KeyError: If no request of this id is in flight.
        """
        ticket = self._in_flight.pop(request_id)
        self.finished[outcome] += 1
        if outcome == "stop":
            self._learn(ticket, answer_tokens, cached_tokens, now_ms)
        self.leave(ticket, now_ms, answer_tokens=answer_tokens, cached_tokens=cached_tokens)
        self._tell(Left(request_id, answer_tokens, cached_tokens))
        return ticket

    def leave(self, ticket: Ticket, now_ms: float, *, answer_tokens: int = 0, cached_tokens: int | None = None) -> None:
        """Take a booked request off the books of its ranks, as `finish` does."""
        self._leave_prefill(ticket, now_ms)
        if cached_tokens is not None and ticket.first_token_ms is not None:
            self._correct(ticket, cached_tokens, now_ms)
        self._leave_decode(ticket, answer_tokens, now_ms)

    def report(self, rank: Rank, published: Published, since_ms: float, now_ms: float) -> None:
        """Take in what an engine publishes of a rank; one that is not known is no error.

        Args:
            rank: The rank.
            published: The figures, seen now for the first time.
            since_ms: When they had not been there yet, ms.
            now_ms: The time, in ms.
        """
        book = self.prefill.get(rank) or self.decode.get(rank)
        if book is not None:
            book.report(published, since_ms, now_ms)

    def _leave_prefill(self, ticket: Ticket, now_ms: float) -> None:
        rank = ticket.decision.prefill.rank
        if rank is None or ticket.first_token_ms is not None or (book := self.prefill.get(rank)) is None:
            return
        # Nothing shows that the prompt was computed, so the session's KV is where it was.
        book.computed(ticket.request.request_id)
        book.others.in_hand.leave(ticket.request.request_id, now_ms)
        session = self.sessions.get(ticket.request.session)
        if session is None or session.prefill != rank:
            book.residents.forget(ticket.request.session)

    def _correct(self, ticket: Ticket, cached_tokens: int, now_ms: float) -> None:
        rank = ticket.decision.prefill.rank
        if rank is None or (book := self.prefill.get(rank)) is None:
            return
        computed = max(0, ticket.request.prompt_tokens - cached_tokens)
        book.work.add(computed - self._new_tokens(ticket.request, rank), now_ms)

    def _leave_decode(self, ticket: Ticket, answer_tokens: int, now_ms: float) -> None:
        rank = ticket.decision.decode.rank
        if rank is None or (book := self.decode.get(rank)) is None:
            return
        book.finish(ticket.request.request_id, now_ms)
        book.others.in_hand.leave(ticket.request.request_id, now_ms)
        if ticket.first_token_ms is None:
            book.residents.forget(ticket.request.session)
            return
        session = self._session(ticket.request.session, now_ms)
        if session.decode not in {None, rank} and (old := self.decode.get(session.decode)) is not None:
            old.residents.forget(ticket.request.session)
        session.decode, session.tokens = rank, ticket.request.prompt_tokens + answer_tokens
        book.residents.use(ticket.request.session, session.tokens, now_ms)

    def _find(self, request: RouteRequest, session: Session, now_ms: float) -> None:
        """Let a session live where the index shows that others took it."""
        rank = found_home(request, session.prefill, session.prompt_tokens)
        if rank is None or rank == session.prefill or (book := self.prefill.get(rank)) is None:
            return
        book.residents.use(request.session, min(request.overlaps[rank].device, request.prompt_tokens), now_ms)
        self._live(request.session, session, rank)

    def _live(self, key: str, session: Session, rank: Rank) -> None:
        """Let a session's home be a rank, and no other."""
        if session.prefill not in {None, rank} and (old := self.prefill.get(session.prefill)) is not None:
            old.residents.forget(key)
        session.prefill = rank

    def _session(self, key: str, now_ms: float) -> Session:
        session = self.sessions.get(key)
        if session is None:
            session = self.sessions[key] = Session()
            if len(self.sessions) > self._most_sessions:
                self.sessions.popitem(last=False)
        self.sessions.move_to_end(key)
        session.used_ms = now_ms
        return session

    def _with_host_tier(self, request: RouteRequest) -> RouteRequest:
        if isinstance(self.prices, Fit):
            self.prices.hosted(max((overlap.host for overlap in request.overlaps.values()), default=0))
        return request if self._store is None else self._store.behind(request, self.prefill)

    def _book_prefill(self, ticket: Ticket) -> None:
        request, costs = ticket.request, self.costs
        if (rank := ticket.decision.prefill.rank) is None:
            return
        book, new = self.prefill[rank], self._new_tokens(request, rank)
        host = request.overlaps.get(rank, NOTHING).host
        compute_ms = costs.prefill_ms(new, request.prompt_tokens)
        parts = costs.first_token_parts(request.prompt_tokens, new, host, ticket.moved_tokens)
        ticket.expected_ms = book.waiting_ms + sum(parts)
        in_hand_ms, given_ms = self._engine_ms(rank.worker_id)
        ticket.beside_ms = in_hand_ms - given_ms - compute_ms
        if self._is_shared(rank.worker_id, ticket.placed_ms):
            ticket.beside_ms = math.inf
        book.place(request.request_id, new, compute_ms)
        book.others.in_hand.enter(request.request_id, request.prompt_tokens)
        book.work.add(new, ticket.placed_ms)
        book.asked.add(request.prompt_tokens, ticket.placed_ms)
        book.residents.use(request.session, request.prompt_tokens, ticket.placed_ms)

    def _book_decode(self, ticket: Ticket) -> None:
        request = ticket.request
        if (book := self._decoder(ticket)) is None:
            return
        ticket.moved_tokens = max(1, request.prompt_tokens - book.residents.kept(request.session))
        ticket.moves = self.sessions[request.session].decode not in {None, ticket.decision.decode.rank}
        book.place(request.request_id, request.prompt_tokens)
        book.others.in_hand.enter(request.request_id, request.prompt_tokens)
        book.residents.use(request.session, request.prompt_tokens, ticket.placed_ms)

    def _decoder(self, ticket: Ticket) -> DecodeBook | None:
        rank = ticket.decision.decode.rank
        return None if rank is None else self.decode.get(rank)

    def _engine_ms(self, worker_id: int) -> tuple[float, float]:
        """Return the compute that all ranks of an engine have in hand, and that they were ever given, ms."""
        books = [book for rank, book in self.prefill.items() if rank.worker_id == worker_id]
        return sum(book.waiting_ms for book in books), sum(book.placed_ms for book in books)

    def _is_shared(self, worker_id: int, now_ms: float) -> bool:
        """Tell whether others have requests in hand on an engine, of which their compute is not known."""
        books = [book for rank, book in self.prefill.items() if rank.worker_id == worker_id]
        return any(book.others.at(now_ms).requests for book in books)

    def _learn(self, ticket: Ticket, answer_tokens: int, cached_tokens: int | None, now_ms: float) -> None:
        """Tell the fit what a request took that was served."""
        request, rank = ticket.request, ticket.decision.prefill.rank
        if not isinstance(self.prices, Fit) or ticket.first_token_ms is None or rank not in self.prefill:
            return
        overlap = request.overlaps.get(rank, NOTHING)
        cached = min(request.prompt_tokens, overlap.device + overlap.host if cached_tokens is None else cached_tokens)
        answer_ms, decoder = now_ms - ticket.first_token_ms, self._decoder(ticket)
        run_ms = 0.0 if decoder is None else decoder.run_ms(now_ms) - ticket.run_ms
        self.prices.learn(
            Observation(
                prompt_tokens=request.prompt_tokens,
                new_tokens=request.prompt_tokens - cached,
                host_tokens=max(0, min(overlap.host, cached - overlap.device)),
                moved_tokens=None if ticket.moves else ticket.moved_tokens,
                beside_ms=ticket.beside_ms,
                first_token_ms=ticket.first_token_ms - ticket.placed_ms,
                answer_tokens=answer_tokens,
                answer_ms=answer_ms,
                running=run_ms / answer_ms if answer_ms > 0 else 0.0,
            )
        )

    def _new_tokens(self, request: RouteRequest, rank: Rank) -> int:
        overlap = request.overlaps.get(rank, NOTHING)
        return max(0, request.prompt_tokens - overlap.device - overlap.host)

    def meet(self, fleet: Fleet) -> None:
        """Open books for ranks that came and close those of ranks that went, with the homes of their sessions."""
        if fleet is self._fleet:
            return
        self._fleet = fleet
        known = {rank: worker for worker in fleet.prefill for rank in worker.ranks()}
        self.prefill = {
            rank: self.prefill.get(rank) or RankBook(worker.kv_tokens, self._half_life_ms)
            for rank, worker in known.items()
        }
        decoders: dict[Rank, Worker] = {rank: worker for worker in fleet.decode for rank in worker.ranks()}
        self.decode = {rank: self.decode.get(rank) or DecodeBook(worker.kv_tokens) for rank, worker in decoders.items()}
        for session in self.sessions.values():
            if session.prefill not in self.prefill:
                session.prefill = None
            if session.decode not in self.decode:
                session.decode = None


def _booked(ticket: Ticket, new_tokens: int) -> Booked:
    """Return what other routers are told of a placement."""
    request, placement = ticket.request, ticket.decision.placement
    return Booked(
        request.request_id, request.session, request.prompt_tokens, new_tokens, placement.prefill, placement.decode
    )
