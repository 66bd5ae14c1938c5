"""The policy, term by term."""

from collections.abc import Sequence

import msgspec
import pytest

from router import Costs, Overlap, Rank, RouteRequest, Sticky, Weights
from router.decision import Choice
from router.residents import Residents
from router.views import DecodeView, RankView

PROMPT = 100_000
RANKS = [Rank(7, number) for number in range(4)]
FREE = Weights(balance=0.0, imbalance=0.0)


def residents(*tokens: int, age_ms: float = 0.0, capacity: int = 400_000) -> Residents:
    held = Residents(capacity)
    for number, each in enumerate(tokens):
        held.use(f"other-{number}", each, -age_ms)
    return held


def view(
    rank: int,
    *,
    device: int = 0,
    host: int = 0,
    waiting_ms: float = 0.0,
    worked_ms: float = 0.0,
    held: Residents | None = None,
) -> RankView:
    return RankView(RANKS[rank], Overlap(device, host), 0, waiting_ms, worked_ms, held or residents())


def request(session: str = "s", priority: int = 0) -> RouteRequest:
    return RouteRequest("r", session=session, prompt_tokens=PROMPT, priority=priority)


def choose(
    views: Sequence[RankView], home: int | None = None, weights: Weights | None = None, priority: int = 0
) -> Choice:
    rank = None if home is None else RANKS[home]
    return Sticky(Costs(), weights).prefill(request(priority=priority), views, rank, 0.0)


def test_a_warm_session_stays_where_its_prefix_is() -> None:
    choice = choose([view(0), view(1, device=99_000), view(2)], home=1)

    assert (choice.rank, choice.reason) == (RANKS[1], "home")
    assert choice.margin_ms > 0


def test_a_shared_prefix_does_not_draw_new_sessions_to_one_rank() -> None:
    busy = view(0, device=13_000, worked_ms=60_000.0)

    choice = choose([busy, view(1), view(2), view(3)])

    assert choice.rank != RANKS[0]
    assert choice.reason == "new"


def test_of_equal_ranks_different_sessions_take_different_ones() -> None:
    sticky = Sticky(Costs())
    views = [view(number) for number in range(4)]

    chosen = {sticky.prefill(request(f"s{number}"), views, None, 0.0).rank for number in range(50)}

    assert chosen == set(RANKS)


def test_a_session_leaves_a_rank_that_is_far_ahead_of_the_others() -> None:
    ahead = view(0, device=99_000, worked_ms=400_000.0)

    choice = choose([ahead, view(1, worked_ms=100_000.0), view(2, worked_ms=100_000.0)], home=0)

    assert choice.reason == "moved-balance"


def test_a_session_whose_memory_is_gone_moves_to_where_there_is_room() -> None:
    crowded = view(0, held=residents(200_000, 200_000, age_ms=5e3))

    choice = choose([crowded, view(1)], home=0, weights=FREE)

    assert (choice.rank, choice.reason) == (RANKS[1], "moved-crowding")


def test_a_session_does_not_leave_a_crowded_rank_for_one_that_it_would_crowd_nearly_as_much() -> None:
    home = view(0, held=residents(200_000, 200_000, age_ms=5e3))
    little_better = view(1, held=residents(150_000, 160_000, age_ms=5e3))
    alike = msgspec.structs.replace(FREE, moved=1.0)

    assert choose([home, little_better], home=0, weights=alike).reason == "moved-crowding"
    assert choose([home, little_better], home=0, weights=FREE).rank == RANKS[0]


def test_sessions_long_idle_do_not_make_a_rank_crowded() -> None:
    full_of_old = view(0, device=99_000, held=residents(200_000, 200_000, age_ms=3_600_000.0))

    assert choose([full_of_old, view(1)], home=0).reason == "home"


def test_a_gain_below_the_margin_does_not_move_a_session() -> None:
    weights = Weights(balance=0.0, imbalance=0.0, stay=0.1)

    choice = choose([view(0, device=0), view(1, device=5_000)], home=0, weights=weights)

    assert (choice.rank, choice.reason) == (RANKS[0], "stayed")
    assert choice.margin_ms < 0


def test_what_lies_in_the_host_tier_costs_its_fetch_and_not_its_compute() -> None:
    choice = choose([view(0), view(1, host=90_000)], weights=FREE)

    assert choice.rank == RANKS[1]
    terms = {each.rank: each.terms for each in choice.candidates}
    assert terms[RANKS[1]].move == pytest.approx(Costs().fetch_ms(90_000))
    assert terms[RANKS[1]].compute < terms[RANKS[0]].compute


def test_the_urgent_leave_a_queue_that_others_bear_for_what_is_cached() -> None:
    views = [view(0, device=99_000, waiting_ms=40_000.0), view(1)]

    assert choose(views, home=0).rank == RANKS[0]
    assert choose(views, home=0, priority=2).rank == RANKS[1]


def test_a_queue_counts_where_what_a_session_leaves_can_be_fetched() -> None:
    waiting = view(0, device=99_000, waiting_ms=5_000.0)
    hosted = view(1, host=99_000)

    assert choose([waiting, view(1)], home=0).rank == RANKS[0]
    costs = Costs(host_tokens=10_000_000)
    assert Sticky(costs).prefill(request(), [waiting, hosted], RANKS[0], 0.0).rank == RANKS[1]


def test_waiting_counts_less_for_what_can_wait() -> None:
    weights = Weights(balance=0.0, imbalance=0.0, wait=1.0)
    views = [view(0, device=99_000, waiting_ms=20_000.0), view(1)]

    assert choose(views, home=0, weights=weights).rank == RANKS[1]
    assert choose(views, home=0, weights=weights, priority=-2).rank == RANKS[0]


def test_every_candidate_is_explained_and_the_winner_costs_least() -> None:
    choice = choose([view(0), view(1, device=50_000), view(2)])

    totals = {each.rank: each.terms.total for each in choice.candidates}
    assert set(totals) == set(RANKS[:3])
    assert min(totals, key=lambda rank: totals[rank]) == choice.rank
    cheapest, second, _ = sorted(totals.values())
    assert choice.margin_ms == pytest.approx(second - cheapest)


def test_without_ranks_nothing_is_pinned() -> None:
    assert choose([]).rank is None


def decoder(number: int, *, requests: int = 0, kept: int = 0) -> DecodeView:
    return DecodeView(RANKS[number], requests, 0, kept, residents())


def test_an_answer_is_written_where_the_session_still_lies() -> None:
    choice = Sticky(Costs()).decode(request(), [decoder(0), decoder(1, kept=95_000)], RANKS[1], 0.0)

    assert (choice.rank, choice.reason) == (RANKS[1], "home")


def test_a_full_decode_engine_loses_its_session_to_an_empty_one() -> None:
    choice = Sticky(Costs()).decode(request(), [decoder(0), decoder(1, requests=60, kept=95_000)], RANKS[1], 0.0)

    assert choice.rank == RANKS[0]
