"""Writing to a descriptor that may be slow, blocked or gone, without ever waiting for it."""

import os
import select
import threading
from collections import deque
from collections.abc import Callable

HELD_BYTES = 64 << 20


class Output:
    """Writes from its own thread, in order.

    A reader that stops reading must stall neither the supervisor nor, through full pipes, the processes of the graph.
    So up to `HELD_BYTES` wait in memory; beyond that `write` refuses, and the caller counts what is lost.

    Args:
        fd: Where to write; it stays open.
        on_broken: Called once, from the writing thread, when nobody can read any more.
    """

    def __init__(self, fd: int, on_broken: Callable[[], None]) -> None:
        self._fd = fd
        self._on_broken = on_broken
        self._waiting: deque[bytes] = deque()
        self._held = 0
        self._closed = False
        self._broken = False
        self._changed = threading.Condition()
        # A daemon: a reader that never reads again must not keep the process alive.
        self._thread = threading.Thread(target=self._run, name="output", daemon=True)
        self._thread.start()

    def write(self, data: bytes) -> bool:
        """Queue `data`. False when too much is waiting already."""
        with self._changed:
            if self._held + len(data) > HELD_BYTES:
                return False
            self._waiting.append(data)
            self._held += len(data)
            self._changed.notify()
        return True

    def close(self, limit_s: float = 2.0) -> None:
        """Write what waits, for at most `limit_s`."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join(limit_s)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closed)
                batch = b"".join(self._waiting)
                self._waiting.clear()
            if not batch:
                return
            self._put(batch)
            with self._changed:
                self._held -= len(batch)

    def _put(self, batch: bytes) -> None:
        left = memoryview(batch)
        while left and not self._broken:
            try:
                left = left[os.write(self._fd, left) :]
            except BlockingIOError:  # Another program on the same terminal made it non-blocking.
                select.select([], [self._fd], [])
            except OSError:
                self._broken = True
                self._on_broken()
