"""The router: asks the policy, and keeps the book of sessions, ranks and requests in flight."""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Protocol

import msgspec

from router.book import DecodeBook, RankBook
from router.costs import Costs
from router.decision import Choice, Decision
from router.fleet import Fleet, Worker
from router.placement import NOTHING, Outcome, Overlap, RouteRequest
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


class Session(msgspec.Struct):
    """Where a session lives.

    Attributes:
        prefill: The rank that computed its last prompt.
        decode: The engine that wrote its last answer.
        tokens: Its length after the last answer, tokens.
        used_ms: When it was last placed.
    """

    prefill: Rank | None = None
    decode: Rank | None = None
    tokens: int = 0
    used_ms: float = 0.0


class Ticket(msgspec.Struct):
    """One request in flight.

    Attributes:
        request: What was placed.
        decision: Where it went, and why.
        placed_ms: When it was placed, in the caller's milliseconds.
        first_token_ms: When its first token came back, None before.
    """

    request: RouteRequest
    decision: Decision
    placed_ms: float
    first_token_ms: float | None = None


class Router:
    """Places requests by a policy and accounts for them until they end.

    Every placed request must be finished exactly once, whatever became of it.

    Args:
        policy: Chooses the places.
        costs: What the work in hand is counted in.
        half_life_s: In which half of a rank's past work is forgotten, s.
        sessions: Most sessions that are remembered; the least recently used is forgotten first.
    """

    def __init__(
        self, policy: Policy, costs: Costs | None = None, *, half_life_s: float = 3600.0, sessions: int = 10_000
    ) -> None:
        self.policy = policy
        self.costs = costs or Costs()
        self.finished: dict[Outcome, int] = {"stop": 0, "cancelled": 0, "error": 0}
        self.sessions: OrderedDict[str, Session] = OrderedDict()
        self.prefill: dict[Rank, RankBook] = {}
        self.decode: dict[Rank, DecodeBook] = {}
        self._half_life_ms = half_life_s * 1e3
        self._most_sessions = sessions
        self._fleet = Fleet()
        self._in_flight: dict[str, Ticket] = {}

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
        self._meet(fleet)
        session = self._session(request.session, now_ms)
        decision = Decision(
            self.policy.prefill(request, self._rank_views(request, now_ms), session.prefill, now_ms),
            self.policy.decode(request, self._decode_views(request), session.decode, now_ms),
        )
        self._in_flight[request.request_id] = Ticket(request, decision, now_ms)
        self._book(request, decision, now_ms)
        return decision

    def first_token(self, request_id: str, now_ms: float) -> None:
        """Note that the request's prompt is computed: its first token arrived. Its session lives there now."""
        ticket = self._in_flight[request_id]
        if ticket.first_token_ms is not None:
            return
        ticket.first_token_ms = now_ms
        rank = ticket.decision.prefill.rank
        if rank is None:
            return
        if (book := self.prefill.get(rank)) is not None:
            book.computed(request_id)
        session = self._session(ticket.request.session, now_ms)
        if session.prefill not in {None, rank} and (old := self.prefill.get(session.prefill)) is not None:
            old.residents.forget(ticket.request.session)
        session.prefill = rank

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
        self._leave_prefill(ticket)
        if cached_tokens is not None and ticket.first_token_ms is not None:
            self._correct(ticket, cached_tokens, now_ms)
        self._leave_decode(ticket, answer_tokens, now_ms)
        return ticket

    def _leave_prefill(self, ticket: Ticket) -> None:
        rank = ticket.decision.prefill.rank
        if rank is None or ticket.first_token_ms is not None or (book := self.prefill.get(rank)) is None:
            return
        # Nothing shows that the prompt was computed, so the session's KV is where it was.
        book.computed(ticket.request.request_id)
        session = self.sessions.get(ticket.request.session)
        if session is None or session.prefill != rank:
            book.residents.forget(ticket.request.session)

    def _correct(self, ticket: Ticket, cached_tokens: int, now_ms: float) -> None:
        rank = ticket.decision.prefill.rank
        if rank is None or (book := self.prefill.get(rank)) is None:
            return
        computed = max(0, ticket.request.prompt_tokens - cached_tokens)
        book.work.add(self.costs.share_ms(computed - self._new_tokens(ticket.request, rank)), now_ms)

    def _leave_decode(self, ticket: Ticket, answer_tokens: int, now_ms: float) -> None:
        rank = ticket.decision.decode.rank
        if rank is None or (book := self.decode.get(rank)) is None:
            return
        book.finish(ticket.request.request_id)
        if ticket.first_token_ms is None:
            book.residents.forget(ticket.request.session)
            return
        session = self._session(ticket.request.session, now_ms)
        if session.decode not in {None, rank} and (old := self.decode.get(session.decode)) is not None:
            old.residents.forget(ticket.request.session)
        session.decode, session.tokens = rank, ticket.request.prompt_tokens + answer_tokens
        book.residents.use(ticket.request.session, session.tokens, now_ms)

    def _session(self, key: str, now_ms: float) -> Session:
        session = self.sessions.get(key)
        if session is None:
            session = self.sessions[key] = Session()
            if len(self.sessions) > self._most_sessions:
                self.sessions.popitem(last=False)
        self.sessions.move_to_end(key)
        session.used_ms = now_ms
        return session

    def _book(self, request: RouteRequest, decision: Decision, now_ms: float) -> None:
        if (rank := decision.prefill.rank) is not None:
            new = self._new_tokens(request, rank)
            book = self.prefill[rank]
            book.place(request.request_id, new, self.costs.prefill_ms(new, request.prompt_tokens))
            book.work.add(self.costs.share_ms(new), now_ms)
            book.residents.use(request.session, request.prompt_tokens, now_ms)
        if (rank := decision.decode.rank) is not None:
            self.decode[rank].place(request.request_id, request.prompt_tokens)
            self.decode[rank].residents.use(request.session, request.prompt_tokens, now_ms)

    def _new_tokens(self, request: RouteRequest, rank: Rank) -> int:
        overlap = request.overlaps.get(rank, NOTHING)
        return max(0, request.prompt_tokens - overlap.device - overlap.host)

    def _rank_views(self, request: RouteRequest, now_ms: float) -> list[RankView]:
        overlaps = request.overlaps
        return [
            RankView(
                rank,
                _lasting(overlaps.get(rank, NOTHING), book, request.session),
                book.waiting_tokens,
                book.waiting_ms,
                book.work.at(now_ms),
                book.residents,
                book.requests,
            )
            for rank, book in self.prefill.items()
        ]

    def _decode_views(self, request: RouteRequest) -> list[DecodeView]:
        return [
            DecodeView(rank, book.requests, book.tokens, book.residents.kept(request.session), book.residents)
            for rank, book in self.decode.items()
        ]

    def _meet(self, fleet: Fleet) -> None:
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


def _lasting(overlap: Overlap, book: RankBook, session: str) -> Overlap:
    """Return the overlap less what the prompts that wait there already will have evicted when this one's turn comes."""
    if not book.waiting_tokens or session not in book.residents:
        return overlap
    kept = book.residents.kept(session)
    return overlap if kept >= overlap.device else Overlap(kept, overlap.host)
