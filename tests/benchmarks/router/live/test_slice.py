"""The part of a trace that real processes get."""

import pytest

from benchmarks.router.live.slice import LONGEST_PROMPT, SESSIONS, TURNS, bounds, requests, take
from router.replay.generator import generate
from router.replay.trace import Session, Trace, Turn


def session(name: str, *prompts: tuple[tuple[int, int], ...], parent: str | None = None) -> Session:
    turns = (Turn(64 * sum(count for _, count in runs) + 9, 700, 90.0, 0.0, runs) for runs in prompts)
    return Session(name, tuple(turns), parent=parent)


def test_sessions_are_few_short_and_quick() -> None:
    cut = take(generate(SESSIONS + 20, 2))

    turns = [turn for each in cut.sessions for turn in each.turns]
    assert len(cut.sessions) == SESSIONS
    assert requests(cut.sessions) == len(turns)
    assert max(len(each.turns) for each in cut.sessions) == TURNS
    assert [each.arrival_s for each in cut.sessions] == sorted(float(at) for at in range(SESSIONS))
    assert max(turn.think_s for turn in turns) == 20.0
    assert max(turn.output_tokens for turn in turns) <= 600
    assert max(turn.input_tokens for turn in turns) <= LONGEST_PROMPT


def test_sub_agents_and_prompts_that_no_rank_holds_are_left_out() -> None:
    long = LONGEST_PROMPT // 64 + 1
    cut = take(
        Trace(
            "t",
            64,
            (
                session("a", ((0, long),), ((0, 2),), ((0, 3),)),
                session("a/1", ((50, 2),), parent="a"),
                session("b", ((0, long),)),
            ),
        )
    )

    assert [each.session_id for each in cut.sessions] == ["a"]
    assert [turn.input_tokens for turn in cut.sessions[0].turns] == [128, 192]
    assert [turn.think_s for turn in cut.sessions[0].turns] == [0.0, 20.0]


def test_bounds_follow_the_order_in_which_requests_were_sent() -> None:
    cut = take(Trace("t", 64, (session("a", ((0, 4),), ((0, 6),)), session("b", ((0, 2), (100, 4))))))

    assert bounds(cut, [(0, 0), (0, 1), (1, 0)], 1 << 40) == pytest.approx((6 / 16, 6 / 16))
    assert bounds(cut, [(0, 0), (1, 0), (0, 1)], 6 * 64) == pytest.approx((6 / 16, 4 / 16))
