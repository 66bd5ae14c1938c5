import asyncio
import uuid

from graphs.process import ProcessSpec
from graphs.supervisor.child import Child, start
from graphs.supervisor.drain import drain, kill
from graphs.supervisor.guard import mark
from graphs.supervisor.log import Log
from tests.graphs.supervisor.harness import POLITE, STUBBORN, spec


async def up(*specs: ProcessSpec) -> list[Child]:
    """Start these, and wait until each has said that it runs."""
    running = {each.name: asyncio.Event() for each in specs}

    def hear(child: Child, _: str) -> None:
        running[child.spec.name].set()

    children = [await start(each, {}, mark(uuid.uuid4().hex, each.name), hear, lambda _: None) for each in specs]
    for event in running.values():
        await event.wait()
    return children


async def test_equal_ranks_stop_together_and_the_next_rank_after_them(log: Log) -> None:
    specs = (spec("Decode-0", POLITE), spec("Decode-1", POLITE), spec("Prefill-0", POLITE, stop_rank=1))
    children = await up(*specs)
    first = {child.exited for child in children[:2]}
    ends_before_prefill: list[bool] = []
    children[2].exited.add_done_callback(lambda _: ends_before_prefill.append(all(end.done() for end in first)))
    assert await drain(children, log)
    assert ends_before_prefill == [True]
    assert [child.exited.result() for child in children] == [0, 0, 0]


async def test_one_that_must_be_killed_makes_the_drain_unclean_and_the_others_still_end_by_themselves(log: Log) -> None:
    specs = (spec("Frontend", STUBBORN, drain_limit_s=0.05), spec("Decode-0", POLITE, stop_rank=1))
    children = await up(*specs)
    assert not await drain(children, log)
    assert [child.exited.result() for child in children] == [-9, 0]


async def test_one_that_died_before_is_not_waited_for(log: Log) -> None:
    dead = spec("Frontend", "print('up')", drain_limit_s=1000)
    children = await up(dead)
    await children[0].exited
    assert await drain(children, log)


async def test_killing_ends_all_at_once() -> None:
    specs = (spec("Frontend", STUBBORN, drain_limit_s=1000), spec("Decode-0", STUBBORN, stop_rank=1))
    children = await up(*specs)
    await kill(children)
    assert [child.exited.result() for child in children] == [-9, -9]
