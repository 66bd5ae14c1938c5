"""The loads that both replays run."""

from benchmarks.replay import loads
from router.replay.generator import generate
from router.replay.readers import read_mooncake
from router.replay.trace import Trace

TRACE = generate(20, 2)


def held(trace: Trace, session: int) -> set[int]:
    runs = [run for turn in trace.sessions[session].turns for run in turn.blocks]
    return {block for first, count in runs for block in range(first, first + count)}


def test_sessions_are_few_short_and_quick() -> None:
    load = loads.sessions(TRACE, 8)

    assert [session.arrival_s for session in load.sessions] == [0.7 * number for number in range(8)]
    turns = [turn for session in load.sessions for turn in session.turns]
    assert max(len(session.turns) for session in load.sessions) <= 30
    assert max(turn.think_s for turn in turns) <= 6.0
    assert max(turn.output_tokens for turn in turns) <= 600
    assert all(turn.input_tokens == 64 * sum(count for _, count in turn.blocks) for turn in turns)


def test_the_pressure_load_shares_its_prefix_and_nothing_else() -> None:
    load = loads.pressure(TRACE, 20)

    # The 17th is a copy of the first.
    assert load.sessions[16].turns[0].input_tokens == load.sessions[0].turns[0].input_tokens
    assert held(load, 0) & held(load, 16) == held(load, 0) & held(load, 1) == set(range(208))


def test_prompts_that_no_rank_holds_are_left_out() -> None:
    load = loads.fitting(loads.sessions(TRACE, 20), 60_000)

    lengths = [turn.input_tokens for session in load.sessions for turn in session.turns]
    assert lengths
    assert max(lengths) < 60_000
    assert all(session.turns for session in load.sessions)


def test_a_load_survives_the_way_through_mooncakes_form() -> None:
    load = loads.shaken(loads.sessions(TRACE, 4), 1)
    # Readers count arrivals from the first.
    first_s = min(session.arrival_s or 0.0 for session in load.sessions)

    read = read_mooncake(loads.mooncake_rows(load), load.name)

    assert read.block_size == load.block_size
    for there, here in zip(read.sessions, load.sessions, strict=True):
        assert round((there.arrival_s or 0.0) + first_s - (here.arrival_s or 0.0), 6) == 0.0
        assert [turn.input_tokens for turn in there.turns] == [turn.input_tokens for turn in here.turns]
        assert [turn.blocks for turn in there.turns] == [turn.blocks for turn in here.turns]


def test_a_shaken_load_arrives_a_little_later_and_the_same_for_a_seed() -> None:
    load = loads.sessions(TRACE, 8)
    one, again, other = loads.shaken(load, 1), loads.shaken(load, 1), loads.shaken(load, 2)

    assert one == again != other
    assert all(
        0.0 <= (b.arrival_s or 0.0) - (a.arrival_s or 0.0) <= 0.35
        for a, b in zip(load.sessions, one.sessions, strict=True)
    )
