"""The part of a trace that real processes get: a few sessions, smaller and faster than they were recorded."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from benchmarks.router.cases import SMALL
from router.replay.cache import PrefixCache
from router.replay.prefixes import Prefixes
from router.replay.runs import length
from router.replay.trace import Session, Trace, Turn

SESSIONS, TURNS = 32, 8

TOKEN_SCALE = 8
"""Recorded tokens that one token of a prompt, of an answer or of KV stands for: two cores have the frontend, the
workers and the client to carry."""

SPEED = 20.0
"""Recorded seconds that one second stands for."""

LONGEST_PROMPT = 9 * SMALL // 10
"""Recorded tokens; the rest of a rank's memory is for what the chat template adds."""

_ANSWER_TOKENS = 600
_THINK_S = 20.0
_SPACING_S = 1.0


def take(trace: Trace) -> Trace:
    """Take a trace's first sessions without their sub-agents: first turns, short waits, prompts that a rank can hold.

    Prompts are cut to whole blocks, which is what a trace tells apart. Times are still the recorded ones.

    Args:
        trace: The recorded sessions.
    """
    roots = [session for session in trace.sessions if session.parent is None]
    cut = (_cut(session, trace.block_size) for session in roots)
    kept = [session for session in cut if session.turns][:SESSIONS]
    arriving = (msgspec.structs.replace(session, arrival_s=at * _SPACING_S) for at, session in enumerate(kept))
    return msgspec.structs.replace(trace, sessions=tuple(arriving))


def _cut(session: Session, block_size: int) -> Session:
    turns: list[Turn] = []
    for turn in session.turns:
        tokens = length(turn.blocks) * block_size
        if 0 < tokens <= LONGEST_PROMPT:
            answer, think_s = min(turn.output_tokens, _ANSWER_TOKENS), min(turn.think_s, _THINK_S)
            turns.append(Turn(tokens, answer, think_s if turns else 0.0, turn.start_s, turn.blocks))
    return msgspec.structs.replace(session, turns=tuple(turns[:TURNS]))


class Bounds(NamedTuple):
    """Reuse that no policy exceeds: with endless memory, and with one LRU cache as large as all ranks' together."""

    ideal: float
    pooled: float


def bounds(cut: Trace, order: Iterable[tuple[int, int]], memory_tokens: int) -> Bounds:
    """Return the bounds for requests in the order in which they were sent.

    Args:
        cut: The sessions.
        order: The index of the session and of its turn, of each request.
        memory_tokens: Recorded tokens that the ranks' memories hold together.
    """
    prefixes = Prefixes()
    ends = [[prefixes.insert(turn.blocks) for turn in session.turns] for session in cut.sessions]
    prefixes.freeze()
    caches = [PrefixCache(prefixes, blocks) for blocks in (1 << 62, memory_tokens // cut.block_size)]
    found, asked = [0, 0], 0
    for at, (session, turn) in enumerate(order):
        path = prefixes.path(ends[session][turn])
        asked += length(cut.sessions[session].turns[turn].blocks)
        for number, cache in enumerate(caches):
            found[number] += cache.match(path)
            cache.use(path, float(at))
    return Bounds(*(blocks / max(1, asked) for blocks in found))


def requests(sessions: Sequence[Session]) -> int:
    """Count the turns."""
    return sum(len(session.turns) for session in sessions)
