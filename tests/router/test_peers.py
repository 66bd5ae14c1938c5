"""Routers that tell each other what they place keep the same books."""

import msgspec
import pytest

from router import Costs, Fleet, Overlap, Rank, Router, RouteRequest, Sticky, Worker
from router.book import DecodeBook, RankBook
from router.peers import Peers
from router.told import Booked, Computed, Left, Told

FLEET = Fleet((Worker(1, 2, 500_000),), (Worker(9, 1, 500_000), Worker(10, 1, 500_000)))


class Pair:
    """Two routers over one fleet, the second of which hears the first."""

    def __init__(self) -> None:
        self.said: list[Told] = []
        self.first = Router(Sticky(Costs()), tell=self._tell)
        self.second = Router(Sticky(Costs()))
        self.peers = Peers(self.second)
        for router in (self.first, self.second):
            router.meet(FLEET)
        self.now = 0.0

    def _tell(self, told: Told) -> None:
        # As it comes over the wire.
        told = msgspec.json.decode(msgspec.json.encode(told), type=Told)
        self.said.append(told)
        self.peers.hear("first", told, self.now)

    def books(self, router: Router) -> list[object]:
        prefill = [
            (rank, book.requests, book.waiting_tokens, book.waiting_ms, book.work.at(self.now), residents(book))
            for rank, book in router.prefill.items()
        ]
        decode = [(rank, book.requests, book.tokens, residents(book)) for rank, book in router.decode.items()]
        sessions = [(key, each.prefill, each.decode, each.tokens) for key, each in router.sessions.items()]
        return [prefill, decode, sessions]


def residents(book: RankBook | DecodeBook) -> list[tuple[str, tuple[float, int]]]:
    return list(book.residents._sessions.items())


@pytest.fixture
def pair() -> Pair:
    return Pair()


def request(
    number: int, session: str = "s", tokens: int = 50_000, cached: dict[int, int] | None = None
) -> RouteRequest:
    found = {Rank(1, rank): Overlap(device) for rank, device in (cached or {}).items()}
    return RouteRequest(f"r{number}", session=session, prompt_tokens=tokens, overlaps=found)


def test_who_hears_everything_has_the_same_books(pair: Pair) -> None:
    for step in (
        lambda: pair.first.place(request(1), FLEET, 0.0),
        lambda: pair.first.place(request(2, "t", 80_000), FLEET, 0.0),
        lambda: pair.first.first_token("r1", 0.0),
        lambda: pair.first.finish("r1", "stop", 0.0, answer_tokens=300, cached_tokens=20_000),
        lambda: pair.first.place(request(3, tokens=55_000, cached={0: 30_000, 1: 50_000}), FLEET, 0.0),
        lambda: pair.first.first_token("r3", 0.0),
        lambda: pair.first.finish("r2", "error", 0.0),
    ):
        step()
        assert pair.books(pair.second) == pair.books(pair.first)
        assert pair.peers.in_flight == pair.first.in_flight
    assert [type(told) for told in pair.said] == [Booked, Booked, Computed, Left, Booked, Computed, Left]


def test_requests_of_others_are_not_in_flight_here(pair: Pair) -> None:
    pair.first.place(request(1), FLEET, 0.0)
    pair.first.finish("r1", "stop", 0.0)

    assert (pair.second.in_flight, sum(pair.second.finished.values())) == (0, 0)


def test_a_session_that_changes_the_frontend_goes_home(pair: Pair) -> None:
    rank = pair.first.place(request(1), FLEET, 0.0).prefill.rank
    pair.first.first_token("r1", 0.0)
    pair.first.finish("r1", "stop", 0.0, answer_tokens=300)
    assert rank is not None

    decision = pair.second.place(request(1, cached={rank.dp_rank: 50_000}), FLEET, 1.0)

    assert (decision.prefill.rank, decision.prefill.reason, decision.decode.reason) == (rank, "home", "home")


def test_a_peer_that_is_lost_leaves_nothing_waiting_and_its_sessions_where_they_were(pair: Pair) -> None:
    rank = pair.first.place(request(1), FLEET, 0.0).prefill.rank
    pair.first.first_token("r1", 0.0)
    pair.first.place(request(2, "t", 80_000), FLEET, 0.0)

    pair.peers.lost("first", 1.0)
    pair.peers.lost("first", 2.0)

    assert (pair.peers.in_flight, len(pair.peers)) == (0, 0)
    assert all(book.requests == 0 and book.waiting_tokens == 0 for book in pair.second.prefill.values())
    assert all(book.requests == 0 for book in pair.second.decode.values())
    assert pair.second.sessions["s"].prefill == rank


def test_what_began_before_it_was_heard_is_passed_over(pair: Pair) -> None:
    pair.peers.hear("other", Computed("r7"), 0.0)
    pair.peers.hear("other", Left("r7", 100, 0), 0.0)

    assert not pair.second.sessions


def test_places_that_are_not_seen_here_have_no_book(pair: Pair) -> None:
    pair.peers.hear("other", Booked("r1", "s", 50_000, 1000, Rank(7, 3), Rank(9, 0)), 0.0)
    pair.peers.hear("other", Computed("r1"), 0.0)
    pair.peers.hear("other", Left("r1", 100, 49_000), 0.0)

    assert (pair.second.sessions["s"].prefill, pair.second.sessions["s"].decode) == (None, Rank(9, 0))


def test_two_peers_may_use_the_same_ids(pair: Pair) -> None:
    for peer in ("x", "y"):
        pair.peers.hear(peer, Booked("r1", peer, 50_000, 50_000, Rank(1, 0)), 0.0)

    assert pair.second.prefill[Rank(1, 0)].requests == 2
    pair.peers.lost("x", 1.0)
    assert pair.second.prefill[Rank(1, 0)].requests == 1
