"""What goes wrong in service, through the replay: each costs what it must, and nobody else pays."""

from collections.abc import Sequence

import pytest

from router import Costs, Router, Sticky
from router.replay.cluster import Cluster, Load, Outage
from router.replay.frontends import Frontends
from router.replay.generator import generate
from router.replay.measures import Measures, Served
from router.replay.select import truncate
from router.replay.simulate import Replay
from router.replay.trace import Session, Trace, Turn

BLOCK = 64
COSTS = Costs()
RECORDED = Load(arrivals="recorded")
PREFIX = 208
"""Blocks of a harness's tools and system prompt."""


def session(
    name: str,
    number: int,
    *,
    arrival_s: float = 0.0,
    opening: int = 300,
    grows: int = 20,
    turns: int = 8,
    think_s: float = 5.0,
    parent: str | None = None,
) -> Session:
    """Return a session whose prompt is the prefix that all share and blocks of its own, more of them each turn."""
    own = (number + 1) * 1_000_000
    grown = (
        Turn(
            (PREFIX + opening + grows * turn) * BLOCK,
            200,
            think_s if turn else 0.0,
            0.0,
            ((0, PREFIX), (own, opening + grows * turn)),
        )
        for turn in range(turns)
    )
    return Session(name, tuple(grown), arrival_s, parent)


def trace(sessions: Sequence[Session]) -> Trace:
    return Trace("made by hand", BLOCK, tuple(sessions))


def run(
    replayed: Trace,
    cluster: Cluster | None = None,
    *,
    router: Router | None = None,
    load: Load = RECORDED,
    outages: Sequence[Outage] = (),
) -> tuple[Measures, list[Served]]:
    replay = Replay(
        replayed, router or Router(Sticky(COSTS), COSTS), cluster or Cluster(), load, COSTS, outages=outages
    )
    return replay.run(), replay.served


def test_one_prompt_that_all_sessions_share_is_copied_to_every_rank() -> None:
    shared = trace([session(f"{n}", n, arrival_s=0.7 * n) for n in range(64)])

    measures, served = run(shared)

    assert measures.idle_ranks == 0
    assert measures.rank_load_max_over_mean < 1.15
    # Each rank computes the prefix once, of 64 sessions.
    assert measures.reuse_ratio > 0.97 * measures.ideal_reuse_ratio
    begun = [each.rank for each in served if each.turn == 0]
    assert all(4 <= begun.count(rank) <= 12 for rank in range(8))


def test_prompts_that_are_the_same_throughout_are_computed_a_few_times() -> None:
    same = [session(f"{n}", n, arrival_s=0.7 * n, opening=0, turns=1) for n in range(128)]

    measures, _ = run(trace(same))

    assert measures.reuse_ratio > (128 - 8) / 128 * 0.99


def test_a_giant_session_keeps_its_rank_and_the_others_leave_it() -> None:
    giant = session("giant", 0, opening=8_000, grows=200, turns=12)
    others = [session(f"{n}", n, arrival_s=30.0 + n, opening=500, turns=20) for n in range(1, 33)]

    measures, served = run(trace([giant, *others]), Cluster(rank_kv_tokens=768_000))

    of_giant = [each for each in served if each.session == 0]
    assert len({each.rank for each in of_giant}) == 1
    assert measures.reuse_ratio > 0.97 * measures.ideal_reuse_ratio
    neighbours = sum(each.rank == of_giant[0].rank for each in served if each.session) / (len(served) - len(of_giant))
    assert neighbours < 1 / 8


def test_a_session_larger_than_a_ranks_memory_harms_no_other() -> None:
    giant = session("giant", 0, opening=5_000, grows=100, turns=10)
    others = [session(f"{n}", n, arrival_s=30.0 + n, opening=300, turns=20) for n in range(1, 17)]
    small = Cluster(rank_kv_tokens=256_000)

    _, served = run(trace([giant, *others]), small)
    _, without = run(trace(others), small)

    def found(requests: Sequence[Served]) -> float:
        prompts = sum(each.prompt_tokens for each in requests)
        return sum(each.device_tokens for each in requests) / prompts

    assert len(served) == len(without) + 10
    assert found([each for each in served if each.session]) > found(without) - 0.05


def test_a_burst_of_siblings_spreads_and_waits_for_nobody_long() -> None:
    # Sub-agents that share their parent's whole history, all in one second.
    parent = session("parent", 0, opening=800, turns=2, think_s=60.0)
    history = parent.turns[0].blocks
    siblings = [
        Session(
            f"sub {n}",
            (Turn((PREFIX + 830) * BLOCK, 200, 0.0, 0.0, (*history, (2_000_000 * (n + 1), 30))),),
            20.0 + n / 32,
            "parent",
        )
        for n in range(32)
    ]

    measures, served = run(trace([parent, *siblings]))

    burst = [each for each in served if each.session]
    # The history is 65K tokens, some 7 s of one rank: dearer to copy than a queue of siblings to wait in.
    slowest = max(each.first_token_ms - each.arrival_ms for each in burst)
    alone = COSTS.prefill_ms((PREFIX + 830) * BLOCK, (PREFIX + 830) * BLOCK)
    assert slowest < 1.5 * alone
    assert measures.reuse_ratio > 0.5


def test_sessions_that_idle_and_come_back_at_once_find_their_kv() -> None:
    waiting = [session(f"{n}", n, arrival_s=0.5 * n, turns=2) for n in range(64)]
    back_s = 600.0
    returning = [
        Session(
            each.session_id,
            (each.turns[0], Turn(each.turns[1].input_tokens, 200, back_s - 0.5 * n, 0.0, each.turns[1].blocks)),
            each.arrival_s,
        )
        for n, each in enumerate(waiting)
    ]

    measures, served = run(trace(returning))

    back = [each for each in served if each.turn == 1]
    assert sum(each.device_tokens for each in back) > 0.9 * sum(each.prompt_tokens for each in back)
    assert max(each.first_token_ms - each.arrival_ms for each in back) < 3_000.0
    assert measures.rank_load_max_over_mean < 1.15


def test_think_times_of_an_hour_lose_nothing_where_there_is_room() -> None:
    sessions = [session(f"{n}", n, arrival_s=60.0 * n, turns=5, think_s=3600.0) for n in range(64)]

    measures, _ = run(trace(sessions))

    assert measures.reuse_ratio > 0.97 * measures.ideal_reuse_ratio
    assert measures.rank_load_max_over_mean < 1.15


def test_sessions_that_think_for_an_hour_do_not_push_out_those_that_work() -> None:
    idle = [session(f"idle {n}", n, arrival_s=0.5 * n, opening=700, turns=2, think_s=3600.0) for n in range(80)]
    busy = [session(f"busy {n}", 100 + n, arrival_s=300.0 + n, opening=700, turns=30) for n in range(16)]

    _, served = run(trace([*idle, *busy]), Cluster(rank_kv_tokens=256_000))

    later = [each for each in served if each.session >= len(idle) and each.turn]
    assert sum(each.device_tokens for each in later) > 0.9 * sum(each.prompt_tokens for each in later)


def frontends(late_ms: float | None = None, *, sticky: bool = False) -> Router:
    return Frontends(lambda tell: Router(Sticky(COSTS), COSTS, tell=tell), late_ms=late_ms, sticky=sticky)


def test_two_frontends_over_one_fleet_come_to_nearly_what_one_does() -> None:
    generated, load = truncate(generate(64, 3), 30), Load(think_cap_s=60.0)

    one, _ = run(generated, load=load)
    two, _ = run(generated, load=load, router=frontends(50.0))

    assert two.requests == one.requests
    assert two.reuse_ratio > one.reuse_ratio - 0.03
    assert two.rank_load_max_over_mean < one.rank_load_max_over_mean + 0.1
    assert two.idle_ranks == 0


def test_frontends_share_a_memory_that_is_too_small_as_well_as_one_does() -> None:
    large = trace([session(f"{n}", n, arrival_s=0.7 * n, opening=1_400, turns=12) for n in range(32)])
    small = Cluster(rank_kv_tokens=256_000)

    one, _ = run(large, small)
    apart, _ = run(large, small, router=frontends())
    for sticky in (False, True):
        two, _ = run(large, small, router=frontends(50.0, sticky=sticky))
        assert two.reuse_ratio > 0.95 * one.reuse_ratio
        assert two.rank_load_max_over_mean < one.rank_load_max_over_mean + 0.1
        # Each half of the sessions in a memory, and all of it promised to them.
        assert two.reuse_ratio > 1.5 * apart.reuse_ratio


FOUR = Cluster(prefill_engines=4, prefill_ranks=2)
WORKING = trace([session(f"{n}", n, arrival_s=float(n), turns=20) for n in range(32)])


@pytest.mark.parametrize("side", ["prefill", "decode"])
def test_an_engine_that_dies_and_comes_back_empty_costs_its_own_sessions_one_prompt(side: str) -> None:
    outage = Outage("prefill" if side == "prefill" else "decode", 1, 60.0, 90.0)

    whole, _ = run(WORKING, FOUR)
    hurt, served = run(WORKING, FOUR, outages=[outage])

    assert hurt.requests == whole.requests
    lost = whole.reuse_ratio - hurt.reuse_ratio
    if side == "decode":
        assert lost < 0.01
    else:
        # A quarter of 32 sessions computes one prompt again, of 20.
        assert 0.0 < lost < 1.5 / 4 / 20
        during = [each for each in served if 60_000.0 <= each.arrival_ms < 90_000.0]
        assert during
        assert not {each.rank for each in during} & {2, 3}
        # Back and empty it takes its share again, though nobody's KV is there.
        assert any(each.rank in {2, 3} for each in served if each.arrival_ms > 90_000.0)


def test_requests_of_an_engine_that_dies_are_served_elsewhere() -> None:
    sessions = [session(f"{n}", n, opening=600, turns=1) for n in range(16)]

    _, served = run(trace(sessions), FOUR, outages=[Outage("prefill", 0, 3.0, 1e6)])

    assert len(served) == len(sessions)
    assert not any(each.rank in {0, 1} and each.started_ms >= 3_000.0 for each in served)
