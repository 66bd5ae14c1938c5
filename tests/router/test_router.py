"""The book: what is in flight, where sessions live, and which ranks there are."""

import pytest

from router import Costs, Fit, Fleet, Overlap, Plain, Rank, Router, RouteRequest, Sticky, Worker
from router.foreign import STALE_MS, Published
from router.told import Booked, Computed, Left, Told
from router.views import decode_views, rank_views

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

    assert router.prefill[rank].work.at(0.0) == pytest.approx(50_000)


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


def fitting() -> tuple[Router, Fit]:
    fit = Fit(Costs())
    return Router(Sticky(fit), fit), fit


def test_policy_and_books_count_in_the_prices_in_force() -> None:
    router, fit = fitting()
    fit.costs = Costs(prefill_token_us=830.0)

    decision = router.place(request(), FLEET, 0.0)

    dear = fit.costs.prefill_ms(50_000, 50_000)
    assert decision.prefill.candidates[0].terms.compute == pytest.approx(dear)
    assert sum(book.waiting_ms for book in router.prefill.values()) == pytest.approx(dear)


def test_work_in_hand_is_taken_off_as_it_was_booked_though_prices_have_changed() -> None:
    router, fit = fitting()
    rank = router.place(request(1), FLEET, 0.0).prefill.rank
    assert rank is not None
    fit.costs = Costs(prefill_token_us=830.0)
    router.place(request(2, cached={rank.dp_rank: 49_000}), FLEET, 0.0)
    router.first_token("r1", 1.0)
    router.finish("r1", "stop", 2.0)

    assert router.prefill[rank].waiting_ms == pytest.approx(fit.costs.prefill_ms(1_000, 50_000))


def test_what_is_expected_is_the_queue_and_the_requests_own_parts(router: Router) -> None:
    router.place(request(1, "a"), FLEET, 0.0)
    router.place(request(2, "b"), FLEET, 0.0)
    ranks = [router.ticket(name).decision.prefill.rank for name in ("r1", "r2")]
    assert ranks[0] != ranks[1]
    rank = router.place(request(3, "c"), FLEET, 0.0).prefill.rank
    assert rank is not None

    own = sum(Costs().first_token_parts(50_000, 50_000, 0, 50_000))
    assert router.ticket("r1").expected_ms == pytest.approx(own)
    assert router.ticket("r3").expected_ms == pytest.approx(own + Costs().prefill_ms(50_000, 50_000))


def test_the_prices_learn_from_requests_that_were_served_and_had_the_engine_to_themselves() -> None:
    router, fit = fitting()
    serve(router, request(1, "a"))
    assert fit.learnt == {"prefill": 1, "decode": 1}

    router.place(request(2, "b"), FLEET, 10.0)
    router.place(request(3, "c"), FLEET, 11.0)
    for name in ("r2", "r3"):
        router.first_token(name, 5_000.0)
        router.finish(name, "stop", 9_000.0, answer_tokens=100)
    assert fit.learnt == {"prefill": 1, "decode": 3}

    router.place(request(4, "d"), FLEET, 10_000.0)
    router.first_token("r4", 14_000.0)
    router.finish("r4", "cancelled", 16_000.0, answer_tokens=100)
    assert fit.learnt == {"prefill": 1, "decode": 3}


def test_that_there_is_a_host_tier_is_learnt_from_the_index() -> None:
    router, fit = fitting()
    assert fit.costs.host_tokens == 0

    router.place(RouteRequest("r1", session="s", prompt_tokens=9, overlaps={PREFILL: Overlap(0, 8)}), FLEET, 0.0)

    assert fit.costs.host_tokens > 0


BUSY = Published(prefills=1, computed_tokens=8_000, queued=4, queued_tokens=400_000, answering=30)
"""What an engine says that others keep busy."""


def test_work_that_others_placed_counts_as_the_ranks_own(router: Router) -> None:
    router.meet(FLEET)
    for number in range(20):
        router.report(PREFILL, BUSY, 50.0 * number, 50.0 * number + 50.0)
    now = 1_000.0

    decision = router.place(request(), FLEET, now)

    assert decision.prefill.rank == Rank(1, 1)
    terms = {each.rank: each.terms for each in decision.prefill.candidates}
    assert terms[PREFILL].balance > terms[Rank(1, 1)].balance
    assert router.prefill[PREFILL].foreign_work.at(now) == pytest.approx(20 * 8_000, rel=1e-3)
    assert router.prefill[PREFILL].work.at(now) == 0


def test_prompts_of_others_are_waited_for_as_far_as_prompts_are_new() -> None:
    router = Router(Sticky(Costs()))
    router.meet(FLEET)
    # One prompt in ten tokens had to be computed.
    serve(router, request(1, cached={0: 45_000, 1: 45_000}))
    router.report(PREFILL, BUSY, 100.0, 150.0)

    busy, free = rank_views(router.prefill, request(2, "t"), Costs(), 200.0)

    assert (busy.rank, busy.requests, busy.waiting_tokens) == (PREFILL, 5, 40_000)
    assert busy.waiting_ms == pytest.approx(5 * Costs().prefill_ms(8_000, 80_000))
    assert (free.requests, free.waiting_tokens, free.waiting_ms) == (0, 0, 0.0)


def test_answers_of_others_take_a_share_of_each_step(router: Router) -> None:
    router.meet(FLEET)
    router.report(DECODE, BUSY, 0.0, 50.0)

    decision = router.place(request(), FLEET, 100.0)

    assert decision.decode.rank == Rank(10, 0)
    assert {view.rank: view.requests for view in decode_views(router.decode, request(2), 100.0)}[DECODE] == 30


def test_a_rank_that_is_silent_has_nothing_of_others(router: Router) -> None:
    router.meet(FLEET)
    router.report(PREFILL, BUSY, 0.0, 50.0)
    router.report(Rank(77, 0), BUSY, 0.0, 50.0)

    assert rank_views(router.prefill, request(), Costs(), 50.0)[0].requests == 5
    assert rank_views(router.prefill, request(), Costs(), 50.0 + STALE_MS)[0].requests == 0


def test_the_books_own_requests_are_nobody_elses(router: Router) -> None:
    rank = router.place(request(), FLEET, 0.0).prefill.rank
    assert rank is not None
    waiting = Published(queued=1, queued_tokens=50_000)
    computing = Published(prefills=1, computed_tokens=8_000)

    router.report(rank, waiting, 0.0, 50.0)
    router.first_token("r1", 60.0)
    router.report(rank, computing, 50.0, 100.0)
    views = {view.rank: view for view in rank_views(router.prefill, request(2), Costs(), 100.0)}

    assert (views[rank].requests, router.prefill[rank].foreign_work.at(100.0)) == (0, 0.0)


def test_a_session_that_others_moved_lives_where_they_took_it(router: Router) -> None:
    first = serve(router, request(1))
    assert first is not None
    other = Rank(1, 1 - first.dp_rank)

    decision = router.place(request(2, tokens=60_000, cached={other.dp_rank: 58_000}), FLEET, 10.0)

    assert (decision.prefill.rank, decision.prefill.reason) == (other, "home")
    assert "s" not in router.prefill[first].residents
    assert router.prefill[other].residents.tokens == 60_000


def test_other_routers_are_told_what_is_booked() -> None:
    said: list[Told] = []
    router = Router(Sticky(Costs()), tell=said.append)
    rank = router.place(request(cached={0: 49_000, 1: 49_000}), FLEET, 0.0).prefill.rank
    router.first_token("r1", 1.0)
    router.first_token("r1", 2.0)
    router.finish("r1", "stop", 3.0, answer_tokens=100, cached_tokens=48_000)

    booked, *rest = said
    assert isinstance(booked, Booked)
    assert (booked.session, booked.prompt_tokens, booked.new_tokens, booked.prefill) == ("s", 50_000, 1_000, rank)
    assert booked.decode in {Rank(9, 0), Rank(10, 0)}
    assert rest == [Computed("r1"), Left("r1", 100, 48_000)]
