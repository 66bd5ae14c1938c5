"""The measuring process: ``python -m benchmarks.router.decision.run AMOUNT FILE``, both JSON."""

import asyncio
import gc
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
import uvloop
from dynamo.llm import KvRouter

from benchmarks.frontend.processes import BenchmarkError
from benchmarks.router.decision.engines import BLOCK, ENGINES, RANK_BLOCKS, RANKS
from benchmarks.router.decision.figures import Amount, Found, Times, Weight
from benchmarks.router.decision.memory import resident, weight
from benchmarks.router.decision.prefill import Prompt, compute
from benchmarks.router.decision.prompts import SIZES, Tokens, prompt, second
from benchmarks.router.decision.service import Service, serving
from benchmarks.router.decision.stopwatch import timed
from components.frontend.health import now_ms
from components.frontend.overlaps import ShadowIndex
from router import Router

_APART_MS = 250.0
_QUIET_MS = 120_000.0
"""Since the last session came: by then its answer is over."""

_NEW = 1_000_000
"""Number of the first session that nobody has seen."""


async def _measured(amount: Amount) -> Found:
    async with serving() as service:
        # As in the frontend.
        gc.freeze()
        gc.set_threshold(100_000)
        before = resident()
        lived = _live(service, amount.sessions)
        filled = resident()
        computed = _still_held(lived)
        await compute(service.prefill, computed)
        await _seen(service, computed[-1])
        indexed = resident()
        memory = [
            Weight("prompt lineage", weight(service.lineage), amount.sessions, "session"),
            Weight("books", weight(service.placing.router), amount.sessions, "session"),
            Weight("index", indexed - filled, sum(each.tokens // BLOCK for each in computed), "block"),
            Weight("process before any session", before),
            Weight("process with sessions", filled),
            Weight("process with sessions and index", indexed),
        ]
        return Found(await _decided(service, computed, amount.samples), memory)


def _live(service: Service, sessions: int) -> list[Prompt]:
    """Let sessions live that came one after the other, and return their prompts."""
    sizes, begun = list(SIZES.values()), now_ms() - _QUIET_MS - sessions * _APART_MS
    lived = []
    for session in range(sessions):
        tokens = sizes[session % len(sizes)]
        key = service.meet(prompt(session, tokens))
        lived.append(Prompt(session, tokens, *service.serve(key, tokens, begun + session * _APART_MS)))
    service.wait(now_ms())
    return lived


def _still_held(lived: Sequence[Prompt]) -> list[Prompt]:
    """Return the last prompts, as many as the ranks have memory for, the last one last."""
    # Ranks are not filled evenly.
    room, held = int(0.9 * ENGINES * RANKS * RANK_BLOCKS * BLOCK), []
    for each in reversed(lived):
        room -= each.tokens
        if room < 0:
            break
        held.append(each)
    return held[::-1]


async def _seen(service: Service, last: Prompt) -> None:
    """Return when the index has seen the last prompt.

    Raises:
        BenchmarkError: If it has not within 10 s.
    """
    tokens = prompt(last.session, last.tokens)
    for _ in range(100):
        _, cached = await service.place(*service.prepare(tokens))
        if cached == last.tokens // BLOCK * BLOCK:
            return
        await asyncio.sleep(0.1)
    raise BenchmarkError("the index has not seen the last prompt within 10 s")


async def _decided(service: Service, computed: Sequence[Prompt], samples: int) -> list[Times]:
    dynamo = service.theirs()
    found = []
    for name, size in SIZES.items():
        known = [each.session for each in computed if each.tokens == size][-samples:]
        again = [second(prompt(session, size), session) for session in known]
        found.append(await _timed(service, dynamo, again, Times(name, "second")))
        fresh = [prompt(session, size) for session in range(_NEW, _NEW + samples)]
        found.append(await _timed(service, dynamo, fresh, Times(name, "first")))
    return found


async def _timed(service: Service, dynamo: KvRouter, prompts: Sequence[Tokens], times: Times) -> Times:
    with timed(ShadowIndex, "find") as times.index, timed(Router, "place") as times.policy:
        for tokens in prompts:
            begun = time.thread_time()
            key, asked = service.prepare(tokens)
            times.before.append((time.thread_time() - begun) * 1e3)
            begun = time.process_time()
            took_ms, cached = await service.place(key, asked)
            times.cpu.append((time.process_time() - begun) * 1e3)
            times.whole.append(took_ms)
            times.found.append(cached / len(tokens))
            listed = tokens.tolist()
            begun = time.perf_counter()
            await dynamo.best_worker(listed)
            times.dynamo.append((time.perf_counter() - begun) * 1e3)
    return times


if __name__ == "__main__":
    told = uvloop.run(_measured(msgspec.json.decode(sys.argv[1], type=Amount)))
    Path(sys.argv[2]).write_bytes(msgspec.json.encode(told))
