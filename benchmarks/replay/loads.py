"""The loads that both replays run: closed-loop sessions, in the shape of the fleet's capacity tests.

Each is a trace with its arrivals and think times fixed. A closed loop is chaotic: which turn comes first can hang on a
millisecond, and with it who is evicted. So runs differ by a little in their arrivals, and both replays get the same.
"""

import random
from collections.abc import Iterator, Sequence

import msgspec

from router.replay.runs import Run, length, split
from router.replay.trace import Session, Trace, Turn

_TURNS = 30
_ANSWER_TOKENS = 600
_THINK_S = 6.0
_SPACING_S = 0.7
_HOUR_S = 3600.0
_PRESSURE_SESSIONS, _PRESSURE_BLOCKS = 16, 208


def sessions(trace: Trace, count: int) -> Trace:
    """Take a trace's first sessions, sub-agents left out, with few turns, short waits and quick arrivals.

    Prompts are cut to whole blocks, which is what both replays tell apart.

    Args:
        trace: The recorded or generated sessions.
        count: How many.
    """
    roots = [session for session in trace.sessions if session.parent is None][:count]
    return _load(trace, trace.name, [_cut(session.turns, trace.block_size) for session in roots])


def pressure(trace: Trace, count: int) -> Trace:
    """Make copies of a trace's first 16 sessions that share one prefix of 208 blocks and nothing else.

    Args:
        trace: The recorded or generated sessions.
        count: How many sessions the copies make up.
    """
    roots = [session for session in trace.sessions if session.parent is None][:_PRESSURE_SESSIONS]
    top = 1 + max(first + blocks for session in roots for turn in session.turns for first, blocks in turn.blocks)
    shift = top + _PRESSURE_BLOCKS
    copies = []
    for number in range(count):
        turns = _cut(roots[number % len(roots)].turns, trace.block_size)
        copies.append([_sharing(turn, shift * (1 + number // len(roots))) for turn in turns])
    return _load(trace, f"{trace.name}, one shared prefix", copies)


def fitting(trace: Trace, tokens: int) -> Trace:
    """Drop the prompts that no rank's memory holds, and one block more: an engine refuses them."""
    kept = []
    for session in trace.sessions:
        turns = tuple(turn for turn in session.turns if turn.input_tokens + trace.block_size <= tokens)
        if turns:
            kept.append(msgspec.structs.replace(session, turns=turns))
    return msgspec.structs.replace(trace, sessions=tuple(kept))


def one_at_a_time(load: Trace) -> Trace:
    """Let each session arrive when the one before it is long over, so that the order of requests is fixed."""
    arriving = (
        msgspec.structs.replace(session, arrival_s=number * _HOUR_S) for number, session in enumerate(load.sessions)
    )
    return msgspec.structs.replace(load, name=f"{load.name}, one at a time", sessions=tuple(arriving))


def shaken(load: Trace, seed: int) -> Trace:
    """Delay each session's arrival by up to half of the time between two."""
    chance = random.Random(seed)
    arriving = (
        msgspec.structs.replace(session, arrival_s=(session.arrival_s or 0.0) + chance.uniform(0.0, _SPACING_S / 2))
        for session in load.sessions
    )
    return msgspec.structs.replace(load, sessions=tuple(arriving))


def mooncake_rows(trace: Trace) -> Iterator[bytes]:
    """Write a load in Mooncake's form, a line a request: a session's first row says when, the others how much later."""
    for session in trace.sessions:
        for number, turn in enumerate(session.turns):
            when = {"delay": turn.think_s * 1e3} if number else {"timestamp": (session.arrival_s or 0.0) * 1e3}
            row = {
                "session_id": session.session_id,
                "input_length": turn.input_tokens,
                "output_length": turn.output_tokens,
                "hash_ids": [block for first, count in turn.blocks for block in range(first, first + count)],
                **when,
            }
            yield msgspec.json.encode(row) + b"\n"


def _load(trace: Trace, name: str, turns: Sequence[Sequence[Turn]]) -> Trace:
    arriving = (
        Session(f"{number}", tuple(session), arrival_s=number * _SPACING_S)
        for number, session in enumerate(turns)
        if session
    )
    return Trace(name, trace.block_size, tuple(arriving))


def _cut(turns: Sequence[Turn], block_size: int) -> list[Turn]:
    return [
        msgspec.structs.replace(
            turn,
            input_tokens=length(turn.blocks) * block_size,
            output_tokens=min(turn.output_tokens, _ANSWER_TOKENS),
            think_s=min(turn.think_s or 1.0, _THINK_S) if number else 0.0,
        )
        for number, turn in enumerate(turns[:_TURNS])
        if turn.blocks
    ]


def _sharing(turn: Turn, shift: int) -> Turn:
    opening, rest = split(turn.blocks, _PRESSURE_BLOCKS)
    blocks: tuple[Run, ...] = (
        (0, length(opening)),
        *((first + shift, count) for first, count in rest),
    )
    return msgspec.structs.replace(turn, blocks=blocks)
