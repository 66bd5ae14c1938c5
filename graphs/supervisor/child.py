"""One running process: started in its own session, heard line by line, ended and cleared away."""

import asyncio
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import cast

from graphs.process import ProcessSpec
from graphs.supervisor.guard import members, shared_memory, sweep
from graphs.supervisor.lines import LineSplitter

TAIL_LINES = 20
# The kernel ends a killed process at once, unless it waits for a device.
_CLEAR_LIMIT_S = 5.0
_LAST_WORDS_LIMIT_S = 1.0


class Child(asyncio.SubprocessProtocol):
    """A process of the graph, from `start` to the end of its session.

    Attributes:
        spec: What it runs.
        pid: Its id, which is also the id of its session and process group.
        tail: Its last `TAIL_LINES` lines.
        started: When it started, on the monotonic clock, in seconds.
        told: Whether it was told to stop, or killed.
        exited: Done when the process itself ended, with its return code: negative is the signal that ended it.
    """

    pid: int
    _transport: asyncio.SubprocessTransport

    def __init__(
        self,
        spec: ProcessSpec,
        mark: bytes,
        on_line: Callable[["Child", str], None],
        on_cleared: Callable[[int], None],
    ) -> None:
        self.spec = spec
        self.tail: deque[str] = deque(maxlen=TAIL_LINES)
        self.started = time.monotonic()
        self.exited: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.told = False
        self._mark = mark
        self._on_line = on_line
        self._on_cleared = on_cleared
        self._lines = LineSplitter()
        self._silent = asyncio.Event()
        self._shared: set[bytes] = set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Asyncio calls it when the process runs."""
        self._transport = cast("asyncio.SubprocessTransport", transport)
        self.pid = self._transport.get_pid()

    def pipe_data_received(self, fd: int, data: bytes) -> None:  # noqa: ARG002 - asyncio's signature
        """Asyncio calls it with what the process wrote."""
        self._hear(self._lines.feed(data))

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """Asyncio calls it when all that could write have closed the pipe."""
        self._hear(self._lines.flush())
        self._silent.set()

    def process_exited(self) -> None:
        """Asyncio calls it when the process has ended; what it started may live."""
        code = self._transport.get_returncode()
        self._exit(0 if code is None else code)

    def terminate(self) -> None:
        """Ask the process itself to end. What it started is its own to tell: an engine drains through its workers."""
        # Not through the transport: Popen would wait for the process and steal its return code from asyncio.
        if not self.exited.done():
            self._tell()
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGTERM)

    def kill(self) -> None:
        """End its process group at once. One that the kernel cannot end yet counts as ended: the guard waits for it."""
        if not self.exited.done():
            self._tell()
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
            asyncio.get_running_loop().call_later(_CLEAR_LIMIT_S, self._exit, -signal.SIGKILL)

    async def ended(self) -> int:
        """Wait for its end, kill what it started and left behind, hear their last words; the return code."""
        code = await asyncio.shield(self.exited)
        swept = asyncio.to_thread(sweep, {self.pid}, self._mark, limit_s=_CLEAR_LIMIT_S, shared=self._shared)
        if not await swept:
            self._on_cleared(self.pid)
        try:
            # What could not be killed may hold the pipe.
            async with asyncio.timeout(_LAST_WORDS_LIMIT_S):
                await self._silent.wait()
        except TimeoutError:
            self._hear(self._lines.flush())
        self._transport.close()
        return code

    def _tell(self) -> None:
        self.told = True
        # What has ended by itself when the session is swept tells no more what it had.
        self._shared |= shared_memory(members({self.pid}, self._mark))

    def _exit(self, code: int) -> None:
        if not self.exited.done():
            self.exited.set_result(code)

    def _hear(self, lines: list[str]) -> None:
        for line in lines:
            self.tail.append(line)
            self._on_line(self, line)


async def start(
    spec: ProcessSpec,
    env: Mapping[str, str],
    mark: bytes,
    on_line: Callable[[Child, str], None],
    on_cleared: Callable[[int], None],
) -> Child:
    """Start a process.

    Args:
        spec: What to run.
        env: Its whole environment.
        mark: What that environment holds and no other process's does.
        on_line: Called with each line that it or what it starts writes.
        on_cleared: Called with its session when nothing of it is left.

    Raises:
        OSError: The command cannot be run.
    """
    _, child = await asyncio.get_running_loop().subprocess_exec(
        lambda: Child(spec, mark, on_line, on_cleared),
        *spec.argv,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,  # One pipe keeps the order of the two.
        start_new_session=True,
        env=env,
    )
    return child


def describe(code: int) -> str:
    """How a process ended, in words."""
    if code >= 0:
        return f"exited with code {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"was killed by signal {-code}"
