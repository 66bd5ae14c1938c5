"""The index, over a worker of this process that stores what the test says, and what it reads from Dynamo's answers."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dynamo.llm import KvEventPublisher, ModelInput, ModelRuntimeConfig, ModelType, WorkerType, register_model
from dynamo.runtime import DistributedRuntime, Endpoint

from components.frontend.overlaps import Overlaps, ShadowIndex, read_scores
from components.frontend.pairs import Prompt, Tokens
from router import Overlap, Rank

PROMPT: Tokens = np.random.default_rng(0).integers(0, 150_000, 6_437, dtype=np.uint32)
RANK = 1


def row(dp_rank: int, device: int, host: int = 0, disk: int = 0) -> dict[str, Any]:
    """A row as Dynamo gives it: its tiers are cumulative."""
    return {
        "worker_id": 7,
        "dp_rank": dp_rank,
        "device_blocks": device,
        "host_pinned_blocks": device + host,
        "disk_blocks": device + host + disk,
        "host_pinned_extension_blocks": host,
        "disk_extension_blocks": disk,
        "shared_beyond_device_blocks": None,
    }


class Worker:
    """A prefill worker of two ranks, the second of which has KV.

    Args:
        endpoint: Its own.
        block_size: Tokens of a block.
        eagle: Whether it hashes blocks as EAGLE has them.
    """

    def __init__(self, endpoint: Endpoint, block_size: int, *, eagle: bool) -> None:
        self.endpoint = endpoint
        self.rank = Rank(endpoint.connection_id(), RANK)
        self._size, self._eagle = block_size, eagle
        self._publisher = KvEventPublisher(endpoint, kv_block_size=block_size, dp_rank=RANK, enable_local_indexer=True)

    def store(self, blocks: int) -> None:
        tokens = PROMPT[: blocks * self._size + self._eagle].tolist()
        self._publisher.publish_stored(tokens, [self._size] * blocks, list(range(blocks)), is_eagle=self._eagle)

    def drop(self, first: int, last: int) -> None:
        self._publisher.publish_removed(list(range(first, last)))


async def _nothing(_request: Any, _context: Any) -> AsyncIterator[Any]:
    yield {}


@contextlib.asynccontextmanager
async def working(folder: Path, block_size: int = 64, *, eagle: bool = False) -> AsyncIterator[Worker]:
    runtime = DistributedRuntime(asyncio.get_running_loop(), "mem", "tcp", event_plane="zmq")
    endpoint = runtime.endpoint("dynamo.prefill.generate")
    serving = asyncio.ensure_future(endpoint.serve_endpoint(_nothing))
    config = ModelRuntimeConfig()
    config.data_parallel_size, config.enable_local_indexer, config.enable_eagle = 2, True, eagle
    try:
        await register_model(
            ModelInput.Tokens,
            ModelType.Prefill,
            endpoint,
            str(folder),
            "glm",
            kv_cache_block_size=block_size,
            runtime_config=config,
            worker_type=WorkerType.Prefill,
            needs=[[WorkerType.Decode]],
        )
        yield Worker(endpoint, block_size, eagle=eagle)
    finally:
        runtime.shutdown()
        serving.cancel()


async def found(index: ShadowIndex, wanted: Overlaps) -> Overlaps:
    """Ask until the answer is as wanted, ten seconds at most: events take a few ms."""
    for _ in range(1000):
        if (answer := await index.find(Prompt(PROMPT))) == wanted:
            break
        await asyncio.sleep(0.01)
    return answer


async def test_a_prompt_is_found_where_its_blocks_are(folder: Path) -> None:
    async with working(folder) as worker:
        index = ShadowIndex(worker.endpoint, 64)
        assert await index.find(index.prepare(PROMPT)) == {}

        worker.store(70)
        whole = {worker.rank: Overlap(70 * 64)}
        assert await found(index, whole) == whole
        assert await index.find(index.prepare(PROMPT[: 65 * 64 + 63])) == {worker.rank: Overlap(65 * 64)}
        assert await index.find(Prompt(PROMPT[1:])) == await index.find(Prompt(PROMPT[:0])) == {}

        worker.drop(40, 70)
        rest = {worker.rank: Overlap(40 * 64)}
        assert await found(index, rest) == rest
        # One that begins later recovers what was stored before.
        assert await found(ShadowIndex(worker.endpoint, 64), rest) == rest


@pytest.mark.parametrize(("block_size", "eagle"), [(16, False), (64, True)])
async def test_blocks_that_no_pairs_stand_for_are_found_by_the_whole_prompt(
    folder: Path, block_size: int, caplog: pytest.LogCaptureFixture, *, eagle: bool
) -> None:
    async with working(folder, block_size, eagle=eagle) as worker:
        index = ShadowIndex(worker.endpoint, block_size)
        with caplog.at_level(logging.WARNING):
            worker.store(30)
            whole = {worker.rank: Overlap(30 * block_size)}

            assert await found(index, whole) == whole
        assert ("EAGLE" in caplog.text) is eagle


def test_blocks_become_tokens_and_no_tier_is_counted_twice() -> None:
    scores = {"block_size": 2, "num_blocks": 9, "workers": [row(0, 4), row(1, 2, host=3, disk=1), row(2, 0)]}

    assert read_scores(scores, 64) == {Rank(7, 0): Overlap(256), Rank(7, 1): Overlap(128, 256)}
