"""Parts of a trace."""

import pytest

from router.replay.select import sample, truncate
from router.replay.trace import Session, Trace, Turn


def session(name: str, starts: list[float], arrival_s: float | None = None, parent: str | None = None) -> Session:
    turns = tuple(Turn(100, 5, 1.0, start, ((0, 1),)) for start in starts)
    return Session(name, turns, arrival_s, parent)


TRACE = Trace(
    "t",
    64,
    (
        session("a", [0.0, 10.0, 20.0]),
        session("a/1", [0.0, 1.0], 12.0, "a"),
        session("a/1/1", [0.0], 0.5, "a/1"),
        session("a/2", [0.0], 25.0, "a"),
        *(session(name, [0.0]) for name in "bcdefgh"),
    ),
)


def names(trace: Trace) -> list[str]:
    return [session.session_id for session in trace.sessions]


def test_a_sample_counts_sessions_without_their_sub_agents_and_takes_those_along() -> None:
    for seed in range(20):
        chosen = names(sample(TRACE, 3, seed))
        assert len([name for name in chosen if "/" not in name]) == 3
        assert [name for name in chosen if "/" in name] == (["a/1", "a/1/1", "a/2"] if "a" in chosen else [])
        assert chosen == [name for name in names(TRACE) if name in chosen]


def test_equal_seeds_choose_equal_sessions_and_others_do_not() -> None:
    assert sample(TRACE, 3, 1) == sample(TRACE, 3, 1)
    assert len({tuple(names(sample(TRACE, 3, seed))) for seed in range(10)}) > 1


def test_a_sample_of_all_is_the_trace() -> None:
    assert sample(TRACE, 8, 0) is TRACE
    assert sample(TRACE, 100, 0) is TRACE


def test_a_truncated_session_keeps_its_first_turns_and_the_sub_agents_that_start_within_them() -> None:
    cut = truncate(TRACE, 2)

    assert len(cut.sessions[0].turns) == 2
    assert names(cut) == ["a", *"bcdefgh"]
    assert names(truncate(TRACE, 3))[:3] == ["a", "a/1", "a/1/1"]
    with pytest.raises(ValueError, match="at least one turn"):
        truncate(TRACE, 0)
