"""The books of other routers over the same fleet, kept beside one's own."""

from router.decision import Choice, Decision
from router.placement import Overlap, RouteRequest
from router.router import Router
from router.ticket import Ticket
from router.told import Booked, Computed, Left, Told


class Peers:
    """Books what other routers tell as if their requests had been placed here.

    What they placed then counts like what this router placed: it is waited for, it is work of its rank, and its session
    lives in a rank's memory. Sessions are the same where their clients name them, or where every router saw them begin.

    Args:
        router: Keeps the books.
    """

    def __init__(self, router: Router) -> None:
        self._router = router
        self._tickets: dict[str, dict[str, Ticket]] = {}

    def __len__(self) -> int:
        return len(self._tickets)

    @property
    def in_flight(self) -> int:
        """Requests that others have placed and not finished."""
        return sum(len(tickets) for tickets in list(self._tickets.values()))

    def hear(self, peer: str, told: Told, now_ms: float) -> None:
        """Book what a peer tells; what began before it was heard is passed over.

        Args:
            peer: Who tells.
            told: What happened there.
            now_ms: When it was heard.
        """
        tickets = self._tickets.setdefault(peer, {})
        if isinstance(told, Booked):
            ticket = tickets[told.request_id] = self._ticket(peer, told, now_ms)
            self._router.book(ticket)
        elif (known := tickets.get(told.request_id)) is not None:
            if isinstance(told, Computed):
                self._router.computed(known, now_ms)
            else:
                del tickets[told.request_id]
                self._router.leave(known, now_ms, answer_tokens=told.answer_tokens, cached_tokens=told.cached_tokens)

    def lost(self, peer: str, now_ms: float) -> None:
        """Take a peer's requests off the books: nobody will say how they end."""
        for request_id in list(self._tickets.get(peer, ())):
            self.hear(peer, Left(request_id), now_ms)
        self._tickets.pop(peer, None)

    def _ticket(self, peer: str, told: Booked, now_ms: float) -> Ticket:
        # A place that this router does not see has no book.
        prefill = told.prefill if told.prefill in self._router.prefill else None
        decode = told.decode if told.decode in self._router.decode else None
        found = {} if prefill is None else {prefill: Overlap(told.prompt_tokens - told.new_tokens)}
        request = RouteRequest(
            f"{peer}/{told.request_id}", session=told.session, prompt_tokens=told.prompt_tokens, overlaps=found
        )
        return Ticket(request, Decision(Choice(prefill, "peer"), Choice(decode, "peer")), now_ms)
