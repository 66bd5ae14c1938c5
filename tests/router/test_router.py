"""The book: what is in flight, where sessions live, and which ranks there are."""

import pytest

from router import Costs, Fleet, Overlap, Plain, Rank, Router, RouteRequest, Sticky, Worker

PREFILL, DECODE = Rank(1, 0), Rank(9, 0)
FLEET = Fleet((Worker(1, 2, 500_000),), (Worker(9, 1, 500_000), Worker(10, 1, 500_000)))


def request(
    number: int = 1, session: str = "s", tokens: int = 50_000, cached: dict[int, int] | None = None
) -> RouteRequest:
    found = {Rank(1, rank): Overlap(device) for rank, device in (cached or {}).items()}
    return RouteRequest(f"r{number}", session=session, prompt_tokens=tokens, overlaps=found)


@pytest.fixture
def router() -> Router:
    return Router(Sticky(Costs()))


def serve(router: Router, asked: RouteRequest, fleet: Fleet = FLEET, now: float = 0.0) -> Rank | None:
    placed = router.place(asked, fleet, now).prefill.rank
    router.first_token(asked.request_id, now + 1)
    router.finish(asked.request_id, "stop", now + 2, answer_tokens=100)
    return placed


def test_the_plain_policy_leaves_everything_to_dynamo() -> None:
    assert Router(Plain()).place(request(), FLEET, 0.0).placement.routing() == {}


def test_a_placement_is_written_under_dynamos_names(router: Router) -> None:
    routing = router.place(request(), FLEET, 0.0).placement.routing()

    assert routing["prefill_worker_id"] == 1
    assert routing["prefill_dp_rank"] in {0, 1}
    assert routing["decode_worker_id"] in {9, 10}
    assert routing["dp_rank"] == 0


def test_an_id_is_in_flight_only_once(router: Router) -> None:
    router.place(request(), FLEET, 0.0)

    with pytest.raises(ValueError, match="already in flight"):
        router.place(request(), FLEET, 1.0)


def test_every_request_is_finished_exactly_once(router: Router) -> None:
    serve(router, request())

    assert (router.in_flight, router.finished["stop"]) == (0, 1)
    with pytest.raises(KeyError):
        router.finish("r1", "stop", 3.0)


def test_a_session_returns_to_its_rank_and_its_decoder(router: Router) -> None:
    first = serve(router, request(1))
    assert first is not None
    decoder = router.sessions["s"].decode

    decision = router.place(request(2, tokens=52_000, cached={first.dp_rank: 49_984}), FLEET, 10.0)

    assert (decision.prefill.rank, decision.prefill.reason) == (first, "home")
    assert (decision.decode.rank, decision.decode.reason) == (decoder, "home")


def test_a_session_moves_only_once_the_copy_is_there(router: Router) -> None:
    first = serve(router, request(1))
    assert first is not None
    other = Rank(1, 1 - first.dp_rank)
    book = router.prefill[first]
    book.work.add(1e6, 3.0)

    moved = router.place(request(2, cached={first.dp_rank: 49_000}), FLEET, 4.0)

    assert moved.prefill.rank == other
    assert (router.sessions["s"].prefill, "s" in book.residents) == (first, True)
    router.first_token("r2", 5.0)
    assert (router.sessions["s"].prefill, "s" in book.residents) == (other, False)


def test_a_request_that_fails_before_its_first_token_leaves_the_session_where_it_was(router: Router) -> None:
    first = serve(router, request(1))
    assert first is not None
    router.prefill[first].work.add(1e6, 3.0)
    moved = router.place(request(2), FLEET, 4.0).prefill.rank
    assert moved not in {None, first}

    router.finish("r2", "error", 5.0)

    assert router.sessions["s"].prefill == first
    assert moved is not None
    book = router.prefill[moved]
    assert (book.waiting_tokens, book.waiting_ms, "s" in book.residents) == (0, 0.0, False)


def test_what_is_in_hand_counts_until_the_first_token(router: Router) -> None:
    rank = router.place(request(), FLEET, 0.0).prefill.rank
    assert rank is not None
    assert router.prefill[rank].waiting_tokens == 50_000

    router.first_token("r1", 1.0)
    router.first_token("r1", 2.0)

    assert router.prefill[rank].waiting_tokens == 0
    assert router.ticket("r1").first_token_ms == 1.0


def test_the_engines_own_count_of_cached_tokens_puts_the_books_work_right(router: Router) -> None:
    rank = router.place(request(1, cached={0: 49_000, 1: 49_000}), FLEET, 0.0).prefill.rank
    assert rank is not None
    router.first_token("r1", 0.0)

    router.finish("r1", "stop", 0.0, cached_tokens=0)

    assert router.prefill[rank].work.at(0.0) == pytest.approx(Costs().share_ms(50_000))


def test_waiting_prompts_lower_what_a_session_will_still_find() -> None:
    router = Router(Sticky(Costs()))
    fleet = Fleet((Worker(1, 1, 100_000),), ())
    serve(router, request(1, tokens=60_000), fleet)
    router.place(request(2, "giant", tokens=90_000), fleet, 5.0)

    decision = router.place(request(3, tokens=60_000, cached={0: 59_000}), fleet, 6.0)

    (candidate,) = decision.prefill.candidates
    assert candidate.terms.compute == pytest.approx(Costs().prefill_ms(50_000, 60_000))


def test_sessions_of_a_worker_that_is_gone_have_no_home(router: Router) -> None:
    serve(router, request(1))
    fleet = Fleet((Worker(2, 2, 500_000),), (Worker(11, 1, 500_000),))

    decision = router.place(request(2), fleet, 10.0)

    assert (decision.prefill.reason, decision.decode.reason) == ("new", "new")
    assert decision.prefill.rank in fleet.prefill[0].ranks()
    assert set(router.prefill) == set(fleet.prefill[0].ranks())


def test_a_request_whose_worker_vanished_is_finished_like_any_other(router: Router) -> None:
    router.place(request(1), FLEET, 0.0)
    router.place(request(2, "t"), Fleet(), 1.0)

    router.first_token("r1", 2.0)
    router.finish("r1", "error", 3.0)

    assert router.finished["error"] == 1


def test_the_oldest_session_is_forgotten_first() -> None:
    router = Router(Sticky(Costs()), sessions=2)
    for number, session in enumerate("abac"):
        serve(router, request(number, session), now=float(number))

    assert set(router.sessions) == {"a", "c"}
