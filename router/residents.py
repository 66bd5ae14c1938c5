"""The sessions whose KV an engine's memory holds, least recently used first, by the router's own book."""

import math
from bisect import bisect_right
from collections import OrderedDict
from itertools import accumulate
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


class _Order(NamedTuple):
    """The sessions as eviction meets them, the newest first.

    Attributes:
        sessions: Their keys.
        used_ms: When each was used last.
        ends: Tokens of each and of all that are newer.
    """

    sessions: list[str]
    used_ms: list[float]
    ends: list[int]


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
        # A decision asks all memories and changes two.
        self._order: _Order | None = None

    def __len__(self) -> int:
        return len(self._sessions)

    def __contains__(self, session: str) -> bool:
        return session in self._sessions

    def use(self, session: str, tokens: int, now_ms: float) -> None:
        """Note that a session's prompt of this many tokens was used now."""
        self.forget(session)
        self._sessions[session] = (now_ms, tokens)
        self._order = None
        self.tokens += tokens
        while self.tokens > _FORGET_BEYOND * self.capacity and len(self._sessions) > 1:
            _, (_, oldest) = self._sessions.popitem(last=False)
            self.tokens -= oldest

    def forget(self, session: str) -> None:
        """Note that a session lives elsewhere now; one that is not known is no error."""
        if (known := self._sessions.pop(session, None)) is not None:
            self.tokens -= known[1]
            self._order = None

    def kept(self, session: str) -> int:
        """Return how many tokens of a session are still here, if the memory evicts the least recently used first."""
        if session not in self._sessions:
            return 0
        tokens, order = self._sessions[session][1], self._ordered()
        newer = order.ends[order.sessions.index(session)] - tokens
        return max(0, min(tokens, self.capacity - newer))

    def reach(self, now_ms: float, extra: int, without: str) -> tuple[Reach, Reach]:
        """Return how far back the memory reaches: as it is, and with more in it.

        Args:
            now_ms: The time, in ms.
            extra: Tokens that come on top.
            without: A session that is left out of both.
        """
        return self._reach(now_ms, 0, without), self._reach(now_ms, extra, without)

    def _reach(self, now_ms: float, extra: int, without: str) -> Reach:
        sessions, used_ms, ends = self._ordered()
        room, left_out = self.capacity - extra, 0
        first_lost = bisect_right(ends, room)
        if without in self._sessions and first_lost >= (own := sessions.index(without)):
            left_out = self._sessions[without][1]
            first_lost = bisect_right(ends, room + left_out, own + 1)
        kept = ends[first_lost - 1] - left_out if first_lost else 0
        return Reach(now_ms - used_ms[first_lost] if first_lost < len(ends) else math.inf, kept + extra)

    def _ordered(self) -> _Order:
        if self._order is None:
            used = self._sessions.values()
            self._order = _Order(
                list(reversed(self._sessions)),
                [used_ms for used_ms, _ in reversed(used)],
                list(accumulate(tokens for _, tokens in reversed(used))),
            )
        return self._order
