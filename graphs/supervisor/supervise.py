"""A graph from its start to its end: keep it until a signal or a failure, then stop it in order."""

import asyncio
import os
import shutil
import sys
import uuid
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from graphs.process import Plan
from graphs.supervisor.child import Child
from graphs.supervisor.drain import drain, kill
from graphs.supervisor.keeper import GraphFailedError, Keeper
from graphs.supervisor.lifeline import Lifeline
from graphs.supervisor.log import Log
from graphs.supervisor.output import Output
from graphs.supervisor.restarts import RestartPolicy
from graphs.supervisor.signals import StopSignals

_FAILED = 1
_BY_SIGNAL = 128  # The shell's way to write "ended by signal n".


@dataclass(frozen=True)
class Options:
    """How the supervisor behaves.

    Attributes:
        terminal: Whether a person reads the output: prefixed lines and a banner instead of JSON lines.
        colour: Whether a terminal gets colours; the variable `NO_COLOR` says no.
        restarts: The answer to deaths of processes whose spec says `backoff`.
    """

    terminal: bool = field(default_factory=lambda: os.isatty(1))
    colour: bool = field(default_factory=lambda: not os.environ.get("NO_COLOR"))
    restarts: RestartPolicy = field(default_factory=RestartPolicy)


def run(plan: Plan, options: Options | None = None) -> int:
    """Run the graph until it is told to stop or fails, writing to standard output; the exit code.

    Call it from the main thread, and exit when it returns: it handles signals, and leaves them blocked. No process of
    the graph is left then, and neither is `plan.run_dir`; when it is killed, its guard sees to both.
    """
    try:
        return asyncio.run(_run(plan, options or Options()))
    finally:
        shutil.rmtree(plan.run_dir, ignore_errors=True)


async def _run(plan: Plan, options: Options) -> int:
    loop = asyncio.get_running_loop()
    unread = asyncio.Event()

    def on_broken() -> None:
        with suppress(RuntimeError):  # The loop has ended: nothing is left to stop.
            loop.call_soon_threadsafe(unread.set)

    signals = StopSignals()
    log = Log(plan, Output(1, on_broken), terminal=options.terminal, colour=options.colour)
    graph_id = uuid.uuid4().hex
    lifeline = Lifeline(graph_id, plan.run_dir, log)
    await lifeline.open()
    try:
        code, failure = await _supervise(Keeper(plan, graph_id, options.restarts, log, lifeline), signals, unread, log)
    finally:
        await lifeline.close()
        log.close()
        signals.close()
    if failure and not options.terminal:
        sys.stderr.write(f"{failure}\n")
    return code


async def _supervise(keeper: Keeper, signals: StopSignals, unread: asyncio.Event, log: Log) -> tuple[int, str | None]:
    """The exit code, and what failed."""
    keeping = asyncio.create_task(keeper.run())
    watching = asyncio.create_task(unread.wait())
    ends: set[asyncio.Future[Any]] = {keeping, watching, signals.first}
    await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    keeping.cancel()
    watching.cancel()
    (end, _) = await asyncio.gather(keeping, watching, return_exceptions=True)
    told = signals.first.done()
    failure = _failure(end, unread=unread.is_set())
    if failure:
        log.event("failed", f"{failure}: the graph stops", level="error")
    else:
        log.event("draining", "the graph stops; answers in flight are finished first")
    clean = await _end(list(keeper.living.values()), signals.second if told else signals.first, log)
    if isinstance(end, Exception) and not isinstance(end, GraphFailedError):
        raise end
    log.event("ended", "every process has ended", clean=clean)
    if failure:
        return _FAILED, failure
    return 0 if clean else _BY_SIGNAL + (signals.second if signals.second.done() else signals.first).result(), None


def _failure(end: BaseException | bool, *, unread: bool) -> str | None:
    if isinstance(end, GraphFailedError):
        return str(end)
    return "nobody reads the output any more" if unread else None


async def _end(children: Collection[Child], hurry: asyncio.Future[int], log: Log) -> bool:
    """Drain; on `hurry`, kill. Whether every process ended by itself."""
    draining = asyncio.create_task(drain(children, log))
    ends: set[asyncio.Future[Any]] = {draining, hurry}
    await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    if draining.done():
        return draining.result()
    log.event("killing", "told again: every process is killed", level="warning")
    draining.cancel()
    await asyncio.gather(draining, return_exceptions=True)
    await kill(children)
    return False
