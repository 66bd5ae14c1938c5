"""Keeping the processes of a graph alive: start each when what it needs is ready, and again when it dies."""

import asyncio
import os
import time
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, NoReturn

from graphs.process import ChatReady, Plan, ProcessSpec
from graphs.supervisor.child import Child, describe, start
from graphs.supervisor.guard import VARIABLE, mark
from graphs.supervisor.lifeline import Lifeline
from graphs.supervisor.log import Log
from graphs.supervisor.probe import until_ready
from graphs.supervisor.restarts import RestartPolicy, Restarts


class GraphFailedError(Exception):
    """The graph cannot run on; the text is one line."""


@dataclass(frozen=True)
class _Death:
    """What is known of a process that ended without being told to."""

    pid: int
    why: str
    lived_s: float
    last_lines: tuple[str, ...]


class Keeper:
    """The processes of one plan.

    Args:
        plan: What runs.
        graph_id: Marks the processes as those of this run.
        policy: How deaths are answered where the plan says restart.
        log: Where it is told.
        lifeline: Learns each session as it begins and ends.
    """

    def __init__(self, plan: Plan, graph_id: str, policy: RestartPolicy, log: Log, lifeline: Lifeline) -> None:
        self._plan = plan
        self._graph_id = graph_id
        self._policy = policy
        self._log = log
        self._lifeline = lifeline
        self._ready = {spec.name: asyncio.Event() for spec in plan.processes}
        self.living: dict[str, Child] = {}

    async def run(self) -> NoReturn:
        """Start all, announce the graph, keep it.

        Raises:
            GraphFailedError: A process could not be started or kept.
        """
        started = time.monotonic()
        try:
            async with asyncio.TaskGroup() as tasks:
                for spec in self._plan.processes:
                    tasks.create_task(self._keep(spec))
                await self._are_ready(self._ready)
                self._log.ready(self._plan, time.monotonic() - started)
        except* GraphFailedError as group:
            first: BaseException = group
            while isinstance(first, BaseExceptionGroup):
                first = first.exceptions[0]
            raise first from None
        raise AssertionError("unreachable: a task of this group ends only by an exception")

    async def _are_ready(self, names: Collection[str]) -> None:
        for name in names:
            await self._ready[name].wait()

    async def _keep(self, spec: ProcessSpec) -> NoReturn:
        await self._are_ready(spec.after)
        restarts = Restarts(self._policy)
        while True:
            death = await self._live(spec)
            self._log.died(spec, death.pid, death.why, death.last_lines)
            if not self._ready[spec.name].is_set() or spec.restart == "fail":
                raise GraphFailedError(_line(spec, death))
            wait_s = restarts.next_wait(death.lived_s, time.monotonic())
            if wait_s is None:
                limit = f"{self._policy.limit} restarts within {self._policy.window_s:g} s"
                raise GraphFailedError(f"{_line(spec, death)} (after {limit})")
            self._log.event("restarting", f"{spec.name} starts again in {wait_s:g} s", spec=spec, seconds=wait_s)
            await asyncio.sleep(wait_s)

    async def _live(self, spec: ProcessSpec) -> _Death:
        """One life, from start to death."""
        child = await self._start(spec)
        if why := await self._until_ready(child):
            child.kill()
        code = await child.ended()
        del self.living[spec.name]
        return _Death(child.pid, why or describe(code), time.monotonic() - child.started, tuple(child.tail))

    async def _start(self, spec: ProcessSpec) -> Child:
        try:
            child = await start(spec, self._env(spec), mark(self._graph_id, spec.name), self._hear, self._lifeline.drop)
        except OSError as error:
            raise GraphFailedError(f"{spec.name} cannot be started: {error}") from None
        self.living[spec.name] = child
        self._lifeline.add(child.pid)
        self._log.event("started", f"{spec.name} started as process {child.pid}", spec=spec, pid=child.pid)
        return child

    def _env(self, spec: ProcessSpec) -> dict[str, str]:
        return {**os.environ, **spec.env, VARIABLE: f"{self._graph_id}/{spec.name}"}

    def _hear(self, child: Child, text: str) -> None:
        spec = child.spec
        self._log.line(spec, child.pid, text)
        if spec.lost is not None and spec.lost in text and not child.told:
            message = f"{spec.name} is not found by others any more, and is started anew"
            self._log.event("lost", message, spec=spec, pid=child.pid, level="warning")
            child.terminate()
            asyncio.get_running_loop().call_later(spec.drain_limit_s, child.kill)

    async def _ask(self, spec: ProcessSpec) -> str | None:
        if isinstance(spec.ready, ChatReady):
            others = [other.name for other in self._plan.processes if not isinstance(other.ready, ChatReady)]
            await self._are_ready(others)
        return await until_ready(spec.ready, spec.ready_limit_s)

    async def _until_ready(self, child: Child) -> str | None:
        """None when it is ready or dead, else why it is not ready within its limit."""
        spec = child.spec
        asking = asyncio.create_task(self._ask(spec))
        ends: set[asyncio.Future[Any]] = {asking, child.exited}
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            if not asking.done():
                return None
            if why := asking.result():
                return f"was not ready within {spec.ready_limit_s:g} s ({why})"
        finally:
            asking.cancel()
        after_s = time.monotonic() - child.started
        message = f"{spec.name} is ready after {after_s:.1f} s"
        self._log.event("process-ready", message, spec=spec, pid=child.pid, seconds=round(after_s, 3))
        self._ready[spec.name].set()
        return None


def _line(spec: ProcessSpec, death: _Death) -> str:
    said = f"; its last line: {death.last_lines[-1]}" if death.last_lines else "; it wrote nothing"
    return f"{spec.name} {death.why}{said}"
