"""The supervisor's end of the pipe to the guard (`guard.py`)."""

import asyncio
import os
import sys
from contextlib import suppress
from pathlib import Path

from graphs.supervisor import guard
from graphs.supervisor.child import describe
from graphs.supervisor.log import Log

COMMAND = (sys.executable, "-I", "-S", guard.__file__)
_CLOSE_LIMIT_S = 10.0


class Lifeline:
    """A guard that lives as long as the graph: one that somebody kills is replaced.

    Args:
        graph_id: What marks every process of the graph.
        run_dir: Folder to remove at the end.
        log: Where it is told when a guard ended early, and what could not be killed.
    """

    def __init__(self, graph_id: str, run_dir: Path, log: Log) -> None:
        self._env = {guard.GUARDED_GRAPH: graph_id, guard.GUARDED_FOLDER: str(run_dir)}
        self._mark = guard.mark(graph_id)
        self._log = log
        self._sessions: set[int] = set()

    @property
    def pid(self) -> int:
        """Id of the guard's process."""
        return self._process.pid

    async def open(self) -> None:
        """Start the guard."""
        await self._start()
        self._watching = asyncio.create_task(self._watch())

    def add(self, session: int) -> None:
        """A session of the graph began."""
        self._sessions.add(session)
        self._tell(f"+{session}\n")

    def drop(self, session: int) -> None:
        """A session of the graph ended; its number may come again and mean a stranger's."""
        self._sessions.discard(session)
        self._tell(f"-{session}\n")

    async def close(self) -> None:
        """Let go, and wait until the guard has cleaned up, for at most ten seconds: it stays as long as it must."""
        self._watching.cancel()
        os.close(self._pipe)
        try:
            async with asyncio.timeout(_CLOSE_LIMIT_S):
                if await self._process.wait():  # It was killed just now, and there is no time for another one.
                    await asyncio.to_thread(guard.sweep, self._sessions, self._mark, limit_s=_CLOSE_LIMIT_S)
        except TimeoutError:
            message = f"the kernel has not ended every process yet; the guard {self.pid} stays until it has"
            self._log.event("left", message, level="error")

    async def _start(self) -> None:
        end, self._pipe = os.pipe()
        try:
            # In its own session, and with none of our descriptors: neither Ctrl-C nor a closing terminal reaches it.
            self._process = await asyncio.create_subprocess_exec(
                *COMMAND,
                stdin=end,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
                start_new_session=True,
                cwd="/",
                env=self._env,
            )
        finally:
            os.close(end)
        for session in self._sessions:
            self._tell(f"+{session}\n")

    async def _watch(self) -> None:
        while True:
            code = await self._process.wait()
            self._log.event("guard", f"the guard {describe(code)}; another one is started", level="warning")
            os.close(self._pipe)
            await self._start()

    def _tell(self, change: str) -> None:
        with suppress(BrokenPipeError):  # The guard is gone; the next one is told all.
            os.write(self._pipe, change.encode())
