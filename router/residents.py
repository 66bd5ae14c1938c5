"""The sessions whose KV an engine's memory holds, least recently used first, by the router's own book."""

import math
from collections import OrderedDict
from typing import NamedTuple

_FORGET_BEYOND = 4
"""Memories' worth of sessions that are remembered: of what lies further back nothing can be left."""


class Reach(NamedTuple):
    """How far back a memory reaches.

    Attributes:
        age_ms: How long ago the session was used that just does not fit any more; infinity when all fit.
        tokens: What the sessions used since then take.
    """

    age_ms: float
    tokens: int


class Residents:
    """The sessions that used one memory.

    An engine evicts what was used least recently. Which age that reaches follows from the sizes and times of the
    sessions alone, so a router knows whose KV is in danger without a word of the engine, and before any of it is lost.

    Args:
        capacity: Tokens that the memory holds.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.tokens = 0
        self._sessions: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._sessions)

    def __contains__(self, session: str) -> bool:
        return session in self._sessions

    def use(self, session: str, tokens: int, now_ms: float) -> None:
        """Note that a session's prompt of this many tokens was used now."""
        self.forget(session)
        self._sessions[session] = (now_ms, tokens)
        self.tokens += tokens
        while self.tokens > _FORGET_BEYOND * self.capacity and len(self._sessions) > 1:
            _, (_, oldest) = self._sessions.popitem(last=False)
            self.tokens -= oldest

    def forget(self, session: str) -> None:
        """Note that a session lives elsewhere now; one that is not known is no error."""
        if (known := self._sessions.pop(session, None)) is not None:
            self.tokens -= known[1]

    def kept(self, session: str) -> int:
        """Return how many tokens of a session are still here, if the memory evicts the least recently used first."""
        if session not in self._sessions:
            return 0
        newer = 0
        for other in reversed(self._sessions):
            _, tokens = self._sessions[other]
            if other == session or newer >= self.capacity:
                break
            newer += tokens
        return max(0, min(self._sessions[session][1], self.capacity - newer))

    def reach(self, now_ms: float, extra: int, without: str) -> tuple[Reach, Reach]:
        """Return how far back the memory reaches: as it is, and with more in it.

        Args:
            now_ms: The time, in ms.
            extra: Tokens that come on top.
            without: A session that is left out of both.
        """
        capacity, taken, after = self.capacity, 0, None
        for session in reversed(self._sessions):
            if session == without:
                continue
            used_ms, tokens = self._sessions[session]
            if after is None and taken + extra + tokens > capacity:
                after = Reach(now_ms - used_ms, taken + extra)
            if taken + tokens > capacity:
                return Reach(now_ms - used_ms, taken), after or Reach(now_ms - used_ms, taken)
            taken += tokens
        return Reach(math.inf, taken), after or Reach(math.inf, taken + extra)
