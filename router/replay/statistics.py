"""The figures by which traces are compared."""

from collections.abc import Callable, Iterable, Sequence

import msgspec
import numpy as np

from router.replay.runs import Seen
from router.replay.trace import Session, Trace, Turn

_DECILES = tuple(range(10, 100, 10))


class Spread(msgspec.Struct, frozen=True):
    """How a quantity is distributed.

    Attributes:
        p10: A tenth of the values are below it.
        median: Half of them are.
        p90: Nine tenths are.
        mean: Their mean.
    """

    p10: float
    median: float
    p90: float
    mean: float


class Statistics(msgspec.Struct, frozen=True):
    """What a trace is like.

    Attributes:
        sessions: Number of sessions, sub-agents included.
        sub_agents: Number of those that have a parent.
        turns: Number of requests.
        input_tokens: Prompt lengths, in tokens.
        output_tokens: Answer lengths, in tokens.
        think_s: Waits before a turn that is not a session's first, in seconds.
        new_tokens: Tokens of the blocks that a turn is the first in its session to hold, first turns left out.
        shrinking_turns: Share of the turns, first ones left out, whose prompt is shorter than the one before it.
        turn_deciles: Turns in a session, at 10, 20 … 90 %, sub-agents left out.
        recorded_s_deciles: Seconds from a session's first request to its last, the same.
        ideal_reuse_ratio: Share of all prompt tokens that an endless cache for the whole trace would have held.
    """

    sessions: int
    sub_agents: int
    turns: int
    input_tokens: Spread
    output_tokens: Spread
    think_s: Spread
    new_tokens: Spread
    shrinking_turns: float
    turn_deciles: tuple[float, ...]
    recorded_s_deciles: tuple[float, ...]
    ideal_reuse_ratio: float


def statistics(trace: Trace) -> Statistics:
    """Measure a trace."""
    turns = [turn for session in trace.sessions for turn in session.turns]
    pairs = [pair for session in trace.sessions for pair in zip(session.turns, session.turns[1:], strict=False)]
    roots = [session for session in trace.sessions if session.parent is None]
    return Statistics(
        sessions=len(trace.sessions),
        sub_agents=len(trace.sessions) - len(roots),
        turns=len(turns),
        input_tokens=_spread(turn.input_tokens for turn in turns),
        output_tokens=_spread(turn.output_tokens for turn in turns),
        think_s=_spread(turn.think_s for _, turn in pairs),
        new_tokens=_spread(blocks * trace.block_size for s in trace.sessions for blocks in _new_blocks(s.turns)[1:]),
        shrinking_turns=sum(later.input_tokens < turn.input_tokens for turn, later in pairs) / max(1, len(pairs)),
        turn_deciles=_deciles(roots, lambda session: len(session.turns)),
        recorded_s_deciles=_deciles(roots, lambda session: session.turns[-1].start_s),
        ideal_reuse_ratio=ideal_reuse_ratio(trace),
    )


def ideal_reuse_ratio(trace: Trace) -> float:
    """Share of all prompt tokens that one endless cache, shared by all sessions, would have held."""
    turns = [turn for session in trace.sessions for turn in session.turns]
    tokens = sum(turn.input_tokens for turn in turns)
    held = sum(count for turn in turns for _, count in turn.blocks) - sum(_new_blocks(turns))
    return held * trace.block_size / tokens if tokens else 0.0


def _new_blocks(turns: Sequence[Turn]) -> list[int]:
    seen = Seen()
    return [seen.add(turn.blocks) for turn in turns]


def _spread(values: Iterable[float]) -> Spread:
    array = np.fromiter(values, dtype=np.float64)
    if not array.size:
        return Spread(0.0, 0.0, 0.0, 0.0)
    p10, median, p90 = (float(value) for value in np.percentile(array, (10, 50, 90)))
    return Spread(p10, median, p90, float(array.mean()))


def _deciles(sessions: Sequence[Session], measure: Callable[[Session], float]) -> tuple[float, ...]:
    if not sessions:
        return ()
    return tuple(float(value) for value in np.percentile([measure(session) for session in sessions], _DECILES))
