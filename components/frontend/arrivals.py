"""Waiting for workers: a side that has lost its last one gets another, as soon as a supervisor has started it."""

import asyncio
import time
from collections.abc import Callable

LOOK_S = 0.05


class Arrivals:
    """Lets requests wait until both sides of a fleet have a worker.

    Args:
        missing: Returns the sides that have none.
    """

    def __init__(self, missing: Callable[[], set[str]]) -> None:
        self._look = missing
        self._seen: set[str] = set()
        self._looking: asyncio.Task[None] | None = None

    def missing(self) -> set[str]:
        """Return the sides that have no worker."""
        missing = self._look()
        self._seen |= {"prefill", "decode"} - missing
        return missing

    def lost(self) -> set[str]:
        """Return the sides that have no worker and had one: the others may be of another kind of graph."""
        return self.missing() & self._seen

    async def wait(self, patience_s: float) -> None:
        """Wait until no side is missing, or the patience is at its end."""
        if self._looking is None or self._looking.done():
            # One that looks for all who wait.
            self._looking = asyncio.get_running_loop().create_task(self._watch(patience_s))
        await asyncio.wait({self._looking}, timeout=patience_s)

    async def _watch(self, patience_s: float) -> None:
        end = time.monotonic() + patience_s
        while self.missing() and time.monotonic() < end:  # noqa: ASYNC110 - discovery has no event to wait for.
            await asyncio.sleep(LOOK_S)
