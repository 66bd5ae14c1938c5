"""Parts of a trace: some of its sessions, or only their beginnings."""

import random

import msgspec

from router.replay.trace import Session, Trace


def sample(trace: Trace, count: int, seed: int) -> Trace:
    """Choose sessions at random, each with its sub-agents, and keep the trace's order.

    Args:
        trace: Where to choose from.
        count: How many, sub-agents not counted; the whole trace where it has no more.
        seed: Equal seeds choose equal sessions.
    """
    roots = [session.session_id for session in trace.sessions if session.parent is None]
    if count >= len(roots):
        return trace
    kept = set(random.Random(seed).sample(roots, count))  # noqa: S311 - a choice to repeat, not a secret
    sessions = []
    for session in trace.sessions:
        if session.session_id in kept or session.parent in kept:
            kept.add(session.session_id)
            sessions.append(session)
    return msgspec.structs.replace(trace, sessions=tuple(sessions))


def truncate(trace: Trace, max_turns: int) -> Trace:
    """Cut every session to its first `max_turns` turns, and drop the sub-agents that would start after the cut.

    Raises:
        ValueError: `max_turns` is less than 1.
    """
    if max_turns < 1:
        raise ValueError(f"max_turns is {max_turns}: a session has at least one turn")
    kept: dict[str, Session] = {}
    for session in trace.sessions:
        parent = None if session.parent is None else kept.get(session.parent)
        lost = session.parent is not None and (parent is None or (session.arrival_s or 0.0) > parent.turns[-1].start_s)
        if not lost:
            kept[session.session_id] = msgspec.structs.replace(session, turns=session.turns[:max_turns])
    return msgspec.structs.replace(trace, sessions=tuple(kept.values()))
