"""Which workers are out although discovery still lists them.

After `kill -9` a worker stays in discovery until its lease ends (8 s and more with files), and Dynamo sends requests
there. Whoever is out comes back when it answers again, after a while that doubles with each time in a row.
"""

import asyncio
import time
from collections.abc import Iterable
from typing import Literal

import msgspec

Why = Literal["named", "unreachable", "failing"]
"""An error named the worker, nobody listens at its address, or request after request failed there."""

Answer = Literal["answer", "refusal", "silence"]

STRIKES = 3
"""Failures in a row, none of which says whose fault it is, after which a worker is out."""

FIRST_BREAK_MS = 1_000.0
LONGEST_BREAK_MS = 30_000.0
PROBE_TIMEOUT_S = 0.25


def now_ms() -> float:
    """Return the time by which the router books everything, in ms."""
    return time.monotonic() * 1e3


class Exclusion(msgspec.Struct):
    """A worker that is out.

    Attributes:
        why: What it was put out for.
        since_ms: When that was.
        until_ms: When it is tried again.
    """

    why: Why
    since_ms: float
    until_ms: float


class Health:
    """The workers that are out, and what speaks against the others. Times are those of `now_ms`.

    Attributes:
        excluded: The workers that are out, by instance id.
        version: Changes whenever `excluded` does.
    """

    def __init__(self) -> None:
        self.excluded: dict[int, Exclusion] = {}
        self.version = 0
        self._strikes: dict[int, int] = {}
        self._times_out: dict[int, int] = {}

    def exclude(self, worker_id: int, why: Why, now_ms: float) -> bool:
        """Put a worker out; tell whether it was in."""
        if worker_id in self.excluded:
            return False
        times = self._times_out[worker_id] = self._times_out.get(worker_id, 0) + 1
        pause = min(LONGEST_BREAK_MS, FIRST_BREAK_MS * 2 ** (times - 1))
        self.excluded[worker_id] = Exclusion(why, now_ms, now_ms + pause)
        self.version += 1
        return True

    def strike(self, worker_id: int) -> bool:
        """Note a failure that may have been this worker's; tell whether it is one too many."""
        self._strikes[worker_id] = self._strikes.get(worker_id, 0) + 1
        return self._strikes[worker_id] >= STRIKES

    def served(self, worker_id: int) -> None:
        """Note that a worker did its part of a request."""
        self._strikes.pop(worker_id, None)
        self._times_out.pop(worker_id, None)

    def due(self, now_ms: float) -> list[int]:
        """Return the workers that are to be tried again, each once."""
        due = [worker_id for worker_id, out in self.excluded.items() if now_ms >= out.until_ms]
        for worker_id in due:
            self.excluded[worker_id].until_ms = now_ms + LONGEST_BREAK_MS
        return due

    def tried(self, worker_id: int, now_ms: float, *, answers: bool) -> None:
        """Let a worker back in if it answers, else try again in a while."""
        if (out := self.excluded.get(worker_id)) is None:
            return
        if not answers:
            out.until_ms = now_ms + FIRST_BREAK_MS
            return
        del self.excluded[worker_id]
        # On probation: one more failure, and it is out again.
        self._strikes[worker_id] = STRIKES - 1
        self.version += 1

    def keep(self, alive: Iterable[int]) -> None:
        """Forget the workers that have left discovery: an instance id never comes back."""
        known = set(alive)
        for book in (self.excluded, self._strikes, self._times_out):
            for gone in [worker_id for worker_id in book if worker_id not in known]:
                del book[gone]


async def probe(address: str) -> Answer:
    """Tell whether somebody listens at a worker's address, `host:port`; takes a quarter of a second at most.

    Silence may as well be this process's own, where its event loop is held up.
    """
    host, _, port = address.rpartition(":")
    try:
        _, writer = await asyncio.wait_for(asyncio.open_connection(host.strip("[]"), int(port)), PROBE_TIMEOUT_S)
    except TimeoutError:
        return "silence"
    except OSError:
        return "refusal"
    writer.close()
    return "answer"
