"""Computes prompts on the engines, so that their KV events reach the index as they do in service."""

import asyncio
from collections.abc import Sequence
from typing import Any

import msgspec
from dynamo.runtime import Endpoint

from benchmarks.router.decision.engines import MODEL
from benchmarks.router.decision.prompts import prompt

_AT_ONCE = 4


class Prompt(msgspec.Struct, frozen=True):
    """The first prompt of a session, and where it is computed."""

    session: int
    tokens: int
    worker_id: int
    dp_rank: int


async def compute(endpoint: Endpoint, prompts: Sequence[Prompt]) -> None:
    """Have prompts computed, each on its rank; their KV events are on their way then."""
    client = await endpoint.client()
    waiting = iter(prompts)

    async def work() -> None:
        for each in waiting:
            await _compute(client, each)

    async with asyncio.TaskGroup() as group:
        for _ in range(_AT_ONCE):
            group.create_task(work())


async def _compute(client: Any, each: Prompt) -> None:
    request = {
        "model": MODEL,
        "token_ids": prompt(each.session, each.tokens).tobytes(),
        "stop_conditions": {"max_tokens": 1},
        "sampling_options": {},
        "output_options": {},
        "eos_token_ids": [],
        "annotations": [],
        "routing": {"dp_rank": each.dp_rank},
    }
    async for _ in await client.direct(request, each.worker_id):
        pass
