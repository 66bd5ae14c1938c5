"""The replay as a whole, on sessions made by hand and made up."""

import pytest

from router import Costs, Plain, Router
from router.replay.baselines import POLICIES
from router.replay.cluster import Cluster, Load, Outage
from router.replay.generator import generate
from router.replay.measures import Measures, Served
from router.replay.select import truncate
from router.replay.simulate import Replay
from router.replay.trace import Session, Trace, Turn

BLOCK = 64
COSTS = Costs(prefill_token_us=10.0, context_token_ns=0.0, step_ms=5.0, decode_step_ms=10.0)
GENERATED = truncate(generate(16, 5), 8)
RECORDED = Load(arrivals="recorded")


def turn(*runs: tuple[int, int], think_s: float = 0.0, answer: int = 10) -> Turn:
    return Turn(sum(count for _, count in runs) * BLOCK, answer, think_s, 0.0, runs)


def growing(name: str, base: int, turns: int = 4, arrival_s: float | None = 0.0, shared: int = 0) -> Session:
    """Return a session that grows by 20 blocks a turn, after a prefix that it may share."""
    opening = ((0, shared),) if shared else ()
    grown = (turn(*opening, (base, 20 * (number + 1)), think_s=2.0 if number else 0.0) for number in range(turns))
    return Session(name, tuple(grown), arrival_s)


def run(
    trace: Trace, policy: str = "kv", *, cluster: Cluster | None = None, load: Load = RECORDED, seed: int = 0
) -> tuple[Measures, Replay]:
    replay = Replay(trace, Router(POLICIES[policy](COSTS, seed), COSTS), cluster or Cluster(), load, COSTS, seed=seed)
    return replay.run(), replay


@pytest.mark.parametrize("policy", POLICIES)
def test_every_request_is_served_once_and_in_order(policy: str) -> None:
    measures, replay = run(GENERATED, policy, load=Load(think_cap_s=5.0))

    asked = [(number, turn) for number, each in enumerate(GENERATED.sessions) for turn in range(len(each.turns))]
    assert sorted((served.session, served.turn) for served in replay.served) == asked
    assert measures.requests == len(asked)
    for served in replay.served:
        assert served.arrival_ms <= served.started_ms < served.first_token_ms <= served.finished_ms


@pytest.mark.parametrize("policy", POLICIES)
def test_the_same_seed_gives_the_same_figures(policy: str) -> None:
    load = Load(arrivals="poisson", think_cap_s=5.0)

    assert run(GENERATED, policy, load=load, seed=3)[0] == run(GENERATED, policy, load=load, seed=3)[0]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("rank_kv_tokens", [64_000, 768_000])
def test_no_policy_reuses_more_than_an_endless_cache(policy: str, rank_kv_tokens: int) -> None:
    cluster = Cluster(rank_kv_tokens=rank_kv_tokens)
    measures, replay = run(GENERATED, policy, cluster=cluster, load=Load(think_cap_s=5.0))

    assert 0.0 <= measures.reuse_ratio <= measures.ideal_reuse_ratio
    assert measures.pooled_reuse_ratio <= measures.ideal_reuse_ratio
    assert all(served.device_tokens + served.host_tokens < served.prompt_tokens for served in replay.served)


def test_a_session_alone_reuses_what_an_endless_cache_would() -> None:
    measures, _ = run(Trace("t", BLOCK, (growing("a", 1000),)))

    assert measures.reuse_ratio == measures.ideal_reuse_ratio == (20 + 40 + 60) / (20 + 40 + 60 + 80)
    assert measures.moves == 0


def test_a_turn_comes_its_think_time_after_the_answer() -> None:
    _, replay = run(Trace("t", BLOCK, (growing("a", 1000),)))

    pairs = zip(replay.served, replay.served[1:], strict=False)
    assert all(later.arrival_ms == pytest.approx(earlier.finished_ms + 2000.0) for earlier, later in pairs)


def test_think_times_can_be_capped() -> None:
    capped = Load(arrivals="recorded", think_cap_s=0.5)
    _, replay = run(Trace("t", BLOCK, (growing("a", 1000),)), load=capped)

    assert replay.served[1].arrival_ms == pytest.approx(replay.served[0].finished_ms + 500.0)


def test_sessions_arrive_as_recorded_or_spaced() -> None:
    trace = Trace("t", BLOCK, tuple(growing(str(each), 1000 * each, 1, 3.0 * each) for each in range(1, 4)))

    def arrivals(load: Load) -> list[float]:
        return sorted(served.arrival_ms for served in run(trace, load=load)[1].served)

    assert arrivals(RECORDED) == [3000.0, 6000.0, 9000.0]
    assert arrivals(Load(spacing_s=0.5)) == [0.0, 500.0, 1000.0]
    assert arrivals(Load(arrivals="poisson"))[0] == 0.0


@pytest.mark.parametrize("load", [RECORDED, Load(spacing_s=7.0)])
def test_a_sub_agent_starts_while_its_parent_runs(load: Load) -> None:
    parent = growing("b", 2000, arrival_s=20.0)
    agent = Session("b/1", growing("", 3000, 1).turns, 1.5, "b")
    _, replay = run(Trace("t", BLOCK, (growing("a", 1000, arrival_s=5.0), parent, agent)), load=load)

    begun = {served.session: served.arrival_ms for served in replay.served if served.turn == 0}
    assert begun[2] == begun[1] + 1500.0


def test_all_memories_together_are_the_pooled_bound() -> None:
    small = Cluster(prefill_ranks=2, rank_kv_tokens=30 * BLOCK)
    one, other, third = (
        Session(name, (turn((base, 20)),) * 2, 0.0) for name, base in (("a", 0), ("b", 500), ("c", 900))
    )

    fits, _ = run(Trace("t", BLOCK, (one, other, third)), cluster=small)
    does_not, _ = run(
        Trace("t", BLOCK, (one, other, third)), cluster=Cluster(prefill_ranks=2, rank_kv_tokens=15 * BLOCK)
    )

    assert fits.pooled_reuse_ratio == 0.5
    assert does_not.pooled_reuse_ratio < 0.5 == does_not.ideal_reuse_ratio


def test_kv_piles_sessions_with_one_prefix_on_few_ranks_and_round_robin_does_not() -> None:
    sessions = tuple(growing(str(each), 1000 * each, arrival_s=0.7 * each, shared=208) for each in range(1, 33))

    kv, _ = run(Trace("t", BLOCK, sessions), "kv")
    turns, _ = run(Trace("t", BLOCK, sessions), "round-robin")

    assert kv.reuse_ratio > turns.reuse_ratio
    assert kv.rank_load_max_over_mean > 2.0
    assert turns.rank_load_max_over_mean < 1.5
    assert turns.idle_ranks == 0 < kv.idle_ranks


def test_affinity_never_moves_a_session() -> None:
    measures, _ = run(GENERATED, "kv-affinity", load=Load(think_cap_s=5.0))

    assert (measures.moves, measures.decode_moves) == (0, 0)


def test_a_host_tier_finds_what_the_ranks_have_lost() -> None:
    small = Cluster(rank_kv_tokens=64_000)
    without, _ = run(GENERATED, load=Load(think_cap_s=5.0), cluster=small)
    hosted = Cluster(rank_kv_tokens=64_000, host_tokens=100_000_000)
    behind, _ = run(GENERATED, load=Load(think_cap_s=5.0), cluster=hosted)

    assert without.reuse_ratio == without.device_reuse_ratio
    assert behind.reuse_ratio > without.reuse_ratio + 0.1
    assert behind.reuse_ratio == pytest.approx(behind.ideal_reuse_ratio, abs=0.05)


def outage(one: Session, *outages: Outage) -> list[Served]:
    cluster = Cluster(prefill_engines=2, prefill_ranks=1, decode_engines=2)
    replay = Replay(
        Trace("t", BLOCK, (one,)),
        Router(POLICIES["kv-affinity"](COSTS, 0), COSTS),
        cluster,
        RECORDED,
        COSTS,
        outages=outages,
    )
    replay.run()
    return replay.served


def test_a_prompt_on_an_engine_that_dies_is_computed_elsewhere() -> None:
    # 64,000 tokens take 0.64 s and eight steps.
    long = Session("a", (turn((0, 1000)),), 0.0)
    (alone,) = outage(long)
    assert 600.0 < alone.first_token_ms < 900.0

    (served,) = outage(long, Outage("prefill", alone.rank, 0.3, 10.0))

    assert served.rank == 1 - alone.rank
    assert served.arrival_ms == 0.0
    assert served.started_ms == 300.0
    assert served.first_token_ms == pytest.approx(alone.first_token_ms + 300.0)


def test_an_answer_on_an_engine_that_dies_is_asked_for_again() -> None:
    talkative = Session("a", (turn((0, 100), answer=1000),), 0.0)
    (alone,) = outage(talkative)
    dies = [Outage("decode", engine, 5.0, 6.0) for engine in range(2)]

    # One of the two had nothing to do with it.
    hurt = max((outage(talkative, one)[0] for one in dies), key=lambda served: served.finished_ms)

    # What it waited for is lost, and the prompt is found cached.
    assert hurt.finished_ms == pytest.approx(alone.finished_ms - alone.first_token_ms + 5_000.0, abs=200.0)
    assert hurt.device_tokens == 99 * BLOCK


def test_an_engine_comes_back_empty() -> None:
    twice = Session("a", (turn((0, 100)), turn((0, 100), think_s=10.0)), 0.0)
    first, second = outage(twice)
    assert second.device_tokens == 99 * BLOCK

    hurt = outage(twice, Outage("prefill", first.rank, 2.0, 5.0), Outage("prefill", 1 - first.rank, 6.0, 1e6))

    assert [each.rank for each in hurt] == [first.rank, first.rank]
    assert hurt[1].device_tokens == 0


def test_the_last_engine_of_a_side_cannot_die() -> None:
    with pytest.raises(ValueError, match="last decode engine"):
        outage(growing("a", 1000), Outage("decode", 0, 0.1, 9.0), Outage("decode", 1, 0.2, 9.0))


def test_progress_is_told_after_each_request() -> None:
    told: list[int] = []
    trace = Trace("t", BLOCK, (growing("a", 1000),))
    Replay(trace, Router(POLICIES["kv"](COSTS, 0)), Cluster(), RECORDED, COSTS, progress=told.append).run()

    assert told == [1, 2, 3, 4]


def test_a_policy_that_leaves_a_place_open_cannot_be_replayed() -> None:
    with pytest.raises(ValueError, match="leaves a place open"):
        Replay(Trace("t", BLOCK, (growing("a", 1000),)), Router(Plain()), Cluster(), RECORDED, COSTS).run()


def test_so_many_sessions_are_held_and_the_next_begins_where_one_ends() -> None:
    trace = Trace("t", BLOCK, tuple(growing(f"{number}", 1000 * (number + 1)) for number in range(5)))
    _, replay = run(trace, load=Load("held", spacing_s=1.0, sessions=2))

    began = {served.session: served.arrival_ms for served in replay.served if served.turn == 0}
    ended = {served.session: served.finished_ms for served in replay.served if served.turn == 3}
    assert [began[0], began[1]] == [0.0, 1_000.0]
    assert sorted(began[number] for number in (2, 3, 4)) == sorted(ended.values())[:3]


def test_held_sessions_bring_their_sub_agents() -> None:
    agent = Session("0/1", growing("0/1", 9000, turns=1).turns, 3.0, "0")
    trace = Trace("t", BLOCK, (growing("0", 1000), agent, growing("1", 5000)))
    _, replay = run(trace, load=Load("held", sessions=1))

    arrived = {served.session: served.arrival_ms for served in replay.served if served.turn == 0}
    last = max(served.finished_ms for served in replay.served if served.session == 0)
    assert arrived == {0: 0.0, 1: 3_000.0, 2: last}


def test_a_replay_stops_when_it_is_told_whatever_is_under_way() -> None:
    _, replay = run(Trace("t", BLOCK, (growing("a", 1000),)), load=Load("held", sessions=1, stop_s=2.15))

    assert [served.turn for served in replay.served] == [0]
    (under_way,) = replay.unfinished
    assert (under_way.turn, under_way.finished_ms) == (1, 0.0)
    assert replay.now_ms <= 2_150
