"""The figures by which traces are compared."""

import pytest

from router.replay.statistics import ideal_reuse_ratio, statistics
from router.replay.trace import Session, Trace, Turn

TRACE = Trace(
    "t",
    10,
    (
        Session(
            "a",
            (
                Turn(25, 4, 0.0, 0.0, ((0, 2),)),
                Turn(40, 8, 2.0, 9.0, ((0, 4),)),
                Turn(30, 6, 4.0, 20.0, ((0, 1), (50, 2))),
            ),
        ),
        Session("b", (Turn(20, 2, 0.0, 0.0, ((0, 1), (60, 1))),), parent="a", arrival_s=1.0),
    ),
)


def test_a_trace_is_measured() -> None:
    measured = statistics(TRACE)

    assert (measured.sessions, measured.sub_agents, measured.turns) == (2, 1, 4)
    assert measured.input_tokens.mean == pytest.approx(115 / 4)
    assert measured.output_tokens.median == 5
    assert measured.think_s.mean == 3
    assert (measured.new_tokens.median, measured.new_tokens.mean) == (20, 20)
    assert measured.shrinking_turns == 0.5
    assert measured.turn_deciles == (3.0,) * 9
    assert measured.recorded_s_deciles == (20.0,) * 9


def test_an_endless_cache_is_shared_by_all_sessions_and_never_holds_a_partly_filled_block() -> None:
    # Of 11 full blocks 7 differ; the 115 tokens count whole.
    assert ideal_reuse_ratio(TRACE) == pytest.approx(4 * 10 / 115)


def test_a_trace_of_nothing_has_figures() -> None:
    assert statistics(Trace("none", 64, ())).ideal_reuse_ratio == 0
