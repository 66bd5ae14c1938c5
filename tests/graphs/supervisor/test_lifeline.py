import asyncio
import os
import uuid
from pathlib import Path

from graphs.supervisor.child import Child, start
from graphs.supervisor.guard import mark
from graphs.supervisor.lifeline import Lifeline
from graphs.supervisor.log import Log
from tests.graphs.supervisor.harness import STUBBORN, spec, until


async def stubborn() -> Child:
    """A process without the mark of any graph here, known by its session only."""
    running = asyncio.Event()
    child = await start(
        spec("Decode-0", STUBBORN), {}, mark(uuid.uuid4().hex), lambda *_: running.set(), lambda _: None
    )
    await running.wait()
    return child


async def test_closing_removes_the_folder_and_kills_the_sessions_that_are_left(tmp_path: Path, log: Log) -> None:
    folder = tmp_path / "run"
    (folder / "discovery").mkdir(parents=True)
    lifeline = Lifeline(uuid.uuid4().hex, folder, log)
    await lifeline.open()
    left, ended = await stubborn(), await stubborn()
    for child in (left, ended):
        lifeline.add(child.pid)
    lifeline.drop(ended.pid)
    await lifeline.close()
    assert not folder.exists()
    assert await left.ended() == -9
    assert not ended.exited.done()
    ended.kill()
    await ended.ended()


async def test_a_guard_that_dies_is_replaced_by_one_that_knows_the_sessions(tmp_path: Path, log: Log) -> None:
    lifeline = Lifeline(uuid.uuid4().hex, tmp_path / "none", log)
    await lifeline.open()
    child = await stubborn()
    lifeline.add(child.pid)
    first = lifeline.pid
    os.kill(first, 9)
    await asyncio.to_thread(until, lambda: lifeline.pid != first)
    await lifeline.close()
    assert await child.ended() == -9
