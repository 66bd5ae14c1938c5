"""A client that leaves: the work stops, and the server goes on."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from anthropic import Anthropic
from openai import APITimeoutError, AsyncOpenAI

from tests.live.chat import Chat, Json, user
from tests.live.serving import Graph, until

FOR_EVER: dict[str, Any] = {"max_tokens": 200_000, "extra_body": {"ignore_eos": True}}
"""At 3,000 tokens a second, more than a minute of work for a decoder that is not told to stop."""

AT_REST = 0.05
"""Share of a core below which the decoders do nothing."""

CUBE: Json = {"type": "boolean"}
for _ in range(3):
    CUBE = {"type": "array", "minItems": 40, "items": CUBE}
LONG: Json = {"type": "object", "properties": {"cube": CUBE}, "required": ["cube"], "additionalProperties": False}
"""A schema that takes more than half a minute to fill: 64,000 values."""


def leave_text(chat: Chat) -> None:
    chunks = chat.chunks(user("Go on"), **FOR_EVER)
    for _ in range(5):
        next(chunks)
    chunks.close()


def leave_a_call(chat: Chat) -> None:
    tool = {"type": "function", "function": {"name": "fill", "parameters": LONG}}
    chunks = chat.chunks(user("Fill it"), tools=[tool], tool_choice="required")
    next(chunks)
    chunks.close()


def leave_before_an_answer(chat: Chat) -> None:
    impatient = Chat(chat.client.with_options(timeout=0.5), chat.model)
    with pytest.raises(APITimeoutError):
        impatient.whole(user("Go on"), **FOR_EVER)


def leave_responses(chat: Chat) -> None:
    form: Any = {"format": {"type": "json_schema", "name": "cube", "schema": LONG}}
    with chat.client.responses.create(model=chat.model, input="Fill it", text=form, stream=True) as events:
        next(event for event in events if event.type == "response.output_text.delta")


def leave_messages(chat: Chat) -> None:
    url = str(chat.client.base_url).removesuffix("/v1/")
    tool: Any = {"name": "fill", "input_schema": LONG}
    with Anthropic(base_url=url, api_key="none", max_retries=0) as client:
        fields: Any = {"model": chat.model, "max_tokens": 200_000, "messages": user("Fill it"), "tools": [tool]}
        with client.messages.stream(**fields) as events:
            next(event for event in events if event.type == "content_block_delta")


WAYS: list[Callable[[Chat], None]] = [leave_text, leave_a_call, leave_before_an_answer, leave_responses, leave_messages]


@pytest.mark.parametrize("leave", WAYS)
def test_the_work_stops_when_the_client_leaves(graph: Graph, chat: Chat, leave: Callable[[Chat], None]) -> None:
    before = cancelled(graph)
    leave(chat)
    assert_stopped(graph, before + 1)
    assert chat.whole(user("Hello")).finish_reason == "stop"


async def test_many_clients_may_leave_at_once(graph: Graph) -> None:
    before = cancelled(graph)
    started: asyncio.Queue[int] = asyncio.Queue()

    async def start(client: AsyncOpenAI, number: int) -> None:
        fields: dict[str, Any] = {"model": graph.model, "messages": user(f"Go on {number}"), **FOR_EVER}
        async with await client.chat.completions.create(stream=True, **fields) as stream:
            async for _ in stream:
                await started.put(number)
                await asyncio.Event().wait()

    async with AsyncOpenAI(base_url=f"{graph.url}/v1", api_key="none", max_retries=0) as client:
        clients = [asyncio.create_task(start(client, number)) for number in range(16)]
        for _ in clients:
            await started.get()
        assert inflight(graph) == len(clients)
        assert busy(graph) > AT_REST
        for task in clients:
            task.cancel()
        assert all(
            isinstance(end, asyncio.CancelledError) for end in await asyncio.gather(*clients, return_exceptions=True)
        )
        assert_stopped(graph, before + len(clients))


def inflight(graph: Graph) -> float:
    return graph.metric("dynamo_frontend_inflight_requests")


def cancelled(graph: Graph) -> float:
    return graph.metric("dynamo_frontend_model_cancellation_total")


def busy(graph: Graph) -> float:
    """Share of a core that the decoders use together, over a fifth of a second."""
    decoders = graph.processes("Decode")
    for process in decoders:
        process.cpu_percent()
    return sum(process.cpu_percent(interval=0.0 if at else 0.2) for at, process in enumerate(decoders)) / 100


def assert_stopped(graph: Graph, cancellations: float) -> None:
    until(lambda: inflight(graph) == 0, "no request in flight")
    until(lambda: cancelled(graph) == cancellations, f"{cancellations} requests cancelled")
    until(lambda: busy(graph) < AT_REST, "decoders at rest")
