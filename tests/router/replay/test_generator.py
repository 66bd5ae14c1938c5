"""Made-up sessions against the figures of the recorded ones.

The expected figures are those of 474 recorded Claude Code sessions (34,150 requests). Seeds differ by more than the
model errs: over ten of them, figures of requests stay within 25 %, of whole sessions' durations within a factor of two.
"""

import itertools
from collections import Counter

import pytest

from router.replay.generator import generate
from router.replay.runs import common_prefix, length
from router.replay.select import truncate
from router.replay.statistics import Statistics, ideal_reuse_ratio, statistics
from router.replay.trace import Session, Trace


@pytest.fixture(scope="module")
def trace() -> Trace:
    return generate(474, seed=9)


@pytest.fixture(scope="module")
def measured(trace: Trace) -> Statistics:
    return statistics(trace)


def near(value: float, share: float) -> object:
    return pytest.approx(value, rel=share)


def test_prompts_are_as_long_as_recorded_ones(measured: Statistics) -> None:
    assert measured.input_tokens.p10 == near(43_000, 0.10)
    assert measured.input_tokens.median == near(105_000, 0.10)
    assert measured.input_tokens.p90 == near(236_000, 0.25)
    assert measured.input_tokens.mean == near(122_000, 0.10)


def test_answers_are_as_long_as_recorded_ones(measured: Statistics) -> None:
    assert measured.output_tokens.median == near(216, 0.06)
    assert measured.output_tokens.mean == near(435, 0.06)


def test_clients_wait_as_long_as_recorded_ones(measured: Statistics) -> None:
    assert measured.think_s.median == near(10, 0.15)
    assert measured.think_s.p90 == near(165, 0.20)


def test_turns_bring_as_many_new_tokens_as_recorded_ones(measured: Statistics) -> None:
    assert measured.new_tokens.median == near(704, 0.10)
    assert measured.new_tokens.p90 == near(4_000, 0.15)
    assert measured.new_tokens.mean == near(3_200, 0.15)
    assert measured.shrinking_turns == near(0.0087, 0.30)


def test_sessions_are_as_long_as_recorded_ones(measured: Statistics) -> None:
    assert measured.turns == near(34_150, 0.10)
    turns = (7, 15, 22, 33, 48, 67, 84, 118, 159)
    seconds = (314, 902, 1669, 2772, 3600, 4991, 6890, 10573, 25802)
    for value, expected in zip(measured.turn_deciles, turns, strict=True):
        assert value == near(expected, 0.30)
    for value, expected in zip(measured.recorded_s_deciles, seconds, strict=True):
        assert value == near(expected, 0.30)


def test_an_endless_cache_would_hold_as_much_as_of_recorded_ones(trace: Trace, measured: Statistics) -> None:
    assert measured.ideal_reuse_ratio == pytest.approx(0.964, abs=0.008)
    assert ideal_reuse_ratio(truncate(trace, 30)) == pytest.approx(0.938, abs=0.014)


def test_harnesses_are_shared_as_recorded_ones_are(trace: Trace) -> None:
    roots = [session for session in trace.sessions if session.parent is None]
    prefixes = {session.session_id: session.turns[0].blocks[0] for session in roots}
    users = Counter(first for first, _ in prefixes.values())

    assert len(users) == near(253, 0.15)
    assert 9 <= max(users.values()) <= 40
    assert sum(count == 1 for count in users.values()) == near(167, 0.25)
    shared = [_shared_tokens(one, other) for one, other in _neighbours(roots)]
    assert sorted(shared)[len(shared) // 2] == near(14_800, 0.05)


def _neighbours(sessions: list[Session]) -> list[tuple[Session, Session]]:
    groups: dict[int, list[Session]] = {}
    for session in sessions:
        groups.setdefault(session.turns[0].blocks[0][0], []).append(session)
    return [pair for group in groups.values() for pair in itertools.pairwise(group)]


def _shared_tokens(one: Session, other: Session) -> int:
    return common_prefix(one.turns[0].blocks, other.turns[0].blocks) * 64


def test_a_prompt_holds_the_previous_prompt_and_answer_but_for_compactions_and_rewrites(trace: Trace) -> None:
    kept = rewritten = 0
    for session in trace.sessions:
        harness = length(session.turns[0].blocks[:1])
        for turn, later in zip(session.turns, session.turns[1:], strict=False):
            held, same = length(turn.blocks), common_prefix(turn.blocks, later.blocks)
            if same >= held - 1:
                kept += 1
                assert later.input_tokens >= turn.input_tokens + turn.output_tokens
            else:
                rewritten += 1
                assert same <= harness
    assert rewritten / (kept + rewritten) == near(0.019, 0.35)


def test_each_prompt_has_its_full_blocks_each_once(trace: Trace) -> None:
    for session in trace.sessions:
        assert session.turns[0].think_s == session.turns[0].start_s == 0
        for turn in session.turns:
            assert length(turn.blocks) == turn.input_tokens // 64
            assert all(count > 0 for _, count in turn.blocks)
            assert turn.output_tokens >= 1
        last = sorted(session.turns[-1].blocks)
        assert all(first + count <= start for (first, count), (start, _) in itertools.pairwise(last))


def test_a_few_sessions_start_sub_agents_with_a_prompt_of_their_own(trace: Trace) -> None:
    by_id = {session.session_id: session for session in trace.sessions}
    agents = [session for session in trace.sessions if session.parent is not None]

    assert len({agent.parent for agent in agents}) == pytest.approx(12, abs=7)
    assert len(agents) == pytest.approx(38, abs=25)
    for agent in agents:
        parent = by_id[agent.parent or ""]
        assert agent.arrival_s is not None
        assert 0 < agent.arrival_s <= parent.turns[-1].start_s + 1000
        assert common_prefix(agent.turns[0].blocks, parent.turns[0].blocks) == 0
    siblings = [pair for pair in itertools.pairwise(agents) if pair[0].parent == pair[1].parent]
    assert all(_shared_tokens(one, other) >= 7_000 for one, other in siblings)


def test_a_seed_makes_one_trace_and_another_seed_another() -> None:
    assert generate(20, seed=3) == generate(20, seed=3)
    assert generate(20, seed=3) != generate(20, seed=4)


@pytest.mark.parametrize("block_size", [1, 512, 100_000])
def test_any_block_size_will_do(block_size: int) -> None:
    made = generate(30, seed=1, block_size=block_size)

    assert made.block_size == block_size
    for session in made.sessions:
        for turn in session.turns:
            assert length(turn.blocks) == turn.input_tokens // block_size
            assert all(count > 0 for _, count in turn.blocks)


@pytest.mark.parametrize(("sessions", "block_size"), [(0, 64), (1, 0)])
def test_too_few_of_anything_is_refused(sessions: int, block_size: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        generate(sessions, 0, block_size)
