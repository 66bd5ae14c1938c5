"""Waiting for workers."""

import asyncio
import time

from components.frontend.arrivals import Arrivals


async def test_all_who_wait_go_on_when_the_worker_comes() -> None:
    missing = {"prefill"}
    arrivals = Arrivals(lambda: set(missing))
    waiting = [asyncio.create_task(arrivals.wait(30.0)) for _ in range(3)]
    await asyncio.sleep(0)
    assert not any(task.done() for task in waiting)

    missing.clear()

    await asyncio.wait_for(asyncio.gather(*waiting), 5.0)


async def test_patience_ends() -> None:
    began = time.monotonic()
    await Arrivals(lambda: {"decode"}).wait(0.01)

    assert time.monotonic() - began < 5.0


async def test_only_what_was_there_can_be_lost() -> None:
    missing = {"prefill"}
    arrivals = Arrivals(lambda: set(missing))

    assert arrivals.lost() == set()
    missing.clear()
    arrivals.missing()
    missing.add("prefill")
    assert arrivals.lost() == {"prefill"}
