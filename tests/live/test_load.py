"""Many tool-calling requests at once: every call is valid, and every stream ends as it should."""

import asyncio
import os
from collections.abc import AsyncIterator
from typing import Any

import pytest
from openai import AsyncOpenAI

from tests.live.chat import Answer, answer_of, join, user
from tests.live.serving import Graph
from tests.live.tools import TOOLS, named, problems

REQUESTS = int(os.environ.get("DYNAMO_LIVE_REQUESTS", "500"))
AT_ONCE = 16
CHOICES = ("required", "named", "auto")


@pytest.fixture
async def client(graph: Graph) -> AsyncIterator[AsyncOpenAI]:
    async with AsyncOpenAI(base_url=f"{graph.url}/v1", api_key="none", max_retries=0) as client:
        yield client


async def ask(client: AsyncOpenAI, model: str, number: int) -> tuple[Answer, list[str]]:
    """Send the request of this number; the answer, and what is wrong with its calls."""
    tools = [list(TOOLS.values())[(number + step) % len(TOOLS)] for step in range(1 + number % 3)]
    choice = CHOICES[number // 3 % len(CHOICES)]
    fields: dict[str, Any] = {
        "model": model,
        "messages": user(f"Request {number}"),
        "tools": tools,
        "tool_choice": named(tools[0]["function"]["name"]) if choice == "named" else choice,
        "seed": number,
    }
    if number % 2:
        chunks = [chunk async for chunk in await client.chat.completions.create(stream=True, **fields)]
        answer = join(chunks)
    else:
        answer = answer_of(await client.chat.completions.create(**fields))
    if choice != "auto":
        assert answer.calls, f"request {number} had to call"
    assert answer.finish_reason == ("tool_calls" if answer.calls else "stop"), number
    return answer, [problem for name, text in answer.calls for problem in problems(name, text, tools)]


@pytest.mark.parametrize("count", [REQUESTS])
async def test_every_call_of_many_requests_is_valid(graph: Graph, client: AsyncOpenAI, count: int) -> None:
    numbers = iter(range(count))
    wrong: list[str] = []
    called: set[str] = set()

    async def work() -> None:
        for number in numbers:
            answer, found = await ask(client, graph.model, number)
            called.update(name for name, _ in answer.calls)
            wrong.extend(found)

    async with asyncio.TaskGroup() as workers:
        for _ in range(AT_ONCE):
            workers.create_task(work())
    assert not wrong, "\n".join([f"{len(wrong)} invalid calls:", *wrong[:10]])
    assert called == set(TOOLS)
