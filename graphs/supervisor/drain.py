"""Ending the processes of a graph in order."""

import asyncio
from collections.abc import Collection

from graphs.supervisor.child import Child, describe
from graphs.supervisor.log import Log


async def drain(children: Collection[Child], log: Log) -> bool:
    """Stop rank after rank, equal ranks together. Whether each process ended by itself within its limit."""
    clean = True
    for rank in sorted({child.spec.stop_rank for child in children}):
        group = [child for child in children if child.spec.stop_rank == rank]
        clean &= all(await asyncio.gather(*(_stop(child, log) for child in group)))
    return clean


async def kill(children: Collection[Child]) -> None:
    """End all at once."""
    for child in children:
        child.kill()
    await asyncio.gather(*(child.ended() for child in children))


async def _stop(child: Child, log: Log) -> bool:
    """SIGTERM, then SIGKILL when its limit has passed. False when it had to be killed."""
    spec, pid = child.spec, child.pid
    if child.exited.done():
        how = describe(await child.ended())
        log.died(spec, pid, f"{how} before it was told to stop", child.tail)
        return True
    log.event("stopping", f"{spec.name} is told to stop, within {spec.drain_limit_s:g} s", spec=spec, pid=pid)
    child.terminate()
    await asyncio.wait({child.exited}, timeout=spec.drain_limit_s)
    in_time = child.exited.done()
    if not in_time:
        message = f"{spec.name} is killed: it did not stop within {spec.drain_limit_s:g} s"
        log.event("killed", message, spec=spec, pid=pid, level="warning")
        child.kill()
    code = await child.ended()
    log.event("stopped", f"{spec.name} has stopped: it {describe(code)}", spec=spec, pid=pid, code=code)
    return in_time
