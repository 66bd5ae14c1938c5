"""Consistent hashing on the session: no state, no look at caches, the same place from every frontend."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from hashlib import blake2b

from router.decision import Choice
from router.placement import RouteRequest
from router.ranks import Rank
from router.views import DecodeView, RankView

_POINTS = 160
"""Points of a place on the ring: uhashring's default, which production-stack has."""


class ConsistentHash:
    """A session goes to the place whose point follows its own on a hash ring.

    Sources: vLLM production-stack's `session` routing (a ring over the header's value) and smg's `consistent_hashing`,
    neither of which ever spills. With a load factor, the bounded form of smg's `prefix_hash`, which takes the next
    place clockwise while one has more requests than `factor * (all requests + 1) / places`, and the one with the fewest
    where all have. Left out: `prefix_hash` hashes the prompt's first 256 tokens, which all agents of a harness share;
    here the session is hashed in both.

    Args:
        factor: Most requests in hand at one place, over the mean; None has no limit.
    """

    def __init__(self, factor: float | None = None) -> None:
        self._factor = factor
        self._rings: dict[tuple[Rank, ...], list[tuple[int, Rank]]] = {}

    def prefill(self, request: RouteRequest, views: Sequence[RankView], _home: Rank | None, _now: float) -> Choice:
        """Take the session's rank."""
        return self._choose(request.session, {view.rank: view.requests for view in views})

    def decode(self, request: RouteRequest, views: Sequence[DecodeView], _home: Rank | None, _now: float) -> Choice:
        """Take the session's engine."""
        return self._choose(request.session, {view.rank: view.requests for view in views})

    def _choose(self, session: str, requests: dict[Rank, int]) -> Choice:
        if not requests:
            return Choice()
        walk = self._walk(session, tuple(requests))
        if self._factor is None:
            return Choice(next(walk), "hash")
        bound = self._factor * (sum(requests.values()) + 1) / len(requests)
        for place, rank in enumerate(walk):
            if requests[rank] <= bound:
                return Choice(rank, "walked" if place else "hash")
        return Choice(min(requests, key=lambda rank: requests[rank]), "least-loaded")

    def _walk(self, session: str, ranks: tuple[Rank, ...]) -> Iterator[Rank]:
        """Yield the places in the order in which they follow the session on the ring, each once."""
        ring = self._rings.get(ranks)
        if ring is None:
            ring = sorted((_point(f"{tuple(rank)}#{number}"), rank) for rank in ranks for number in range(_POINTS))
            self._rings[ranks] = ring
        start = bisect_right(ring, _point(session), key=lambda entry: entry[0])
        seen: set[Rank] = set()
        for offset in range(len(ring)):
            rank = ring[(start + offset) % len(ring)][1]
            if rank not in seen:
                seen.add(rank)
                yield rank


def _point(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")
