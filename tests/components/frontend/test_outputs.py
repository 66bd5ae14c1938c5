"""Reading the routed engine's stream ahead."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from components.frontend.outputs import EngineFailedError, Outputs, merged


class Item:
    """An output as Dynamo wraps it: data, an annotation (no data), or an error."""

    def __init__(self, data: dict[str, Any] | None = None, error: str | None = None) -> None:
        self._data, self._error = data, error

    def is_error(self) -> bool:
        return self._error is not None

    def comments(self) -> list[str] | None:
        return [self._error] if self._error else None

    def data(self) -> dict[str, Any] | None:
        return self._data


class Stream:
    """Futures of the running loop, as the compiled stream gives them, resolved when the test says so."""

    def __init__(self, items: Sequence[Item] = ()) -> None:
        self._queue: asyncio.Queue[Item | None] = asyncio.Queue()
        self.asked = 0
        for item in items:
            self.put(item)

    def put(self, item: Item | None) -> None:
        self._queue.put_nowait(item)

    def __anext__(self) -> "asyncio.Future[Any]":
        self.asked += 1
        return asyncio.ensure_future(self._one())

    async def _one(self) -> Item:
        item = await self._queue.get()
        if item is None:
            raise StopAsyncIteration
        return item


def tokens(*ids: int, finish: str | None = None) -> Item:
    return Item({"token_ids": list(ids), "finish_reason": finish})


async def ids_of(outputs: Outputs) -> list[int]:
    return [id_ for output in await outputs.take() for id_ in output["token_ids"]]


async def spin() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_outputs_that_wait_together_are_taken_together() -> None:
    outputs = Outputs(Stream([tokens(1), tokens(2), tokens(3)]))
    await spin()

    assert await ids_of(outputs) == [1, 2, 3]
    outputs.close()


async def test_the_consumer_waits_for_the_first() -> None:
    stream = Stream()
    outputs = Outputs(stream)
    taking = asyncio.ensure_future(ids_of(outputs))
    await spin()
    assert not taking.done()

    stream.put(tokens(7))

    assert await taking == [7]
    outputs.close()


async def test_annotations_are_passed_over() -> None:
    outputs = Outputs(Stream([Item(), tokens(1)]))

    assert await ids_of(outputs) == [1]
    outputs.close()


async def test_the_end_of_the_stream_is_an_empty_take() -> None:
    stream = Stream([tokens(1, finish="stop")])
    stream.put(None)
    outputs = Outputs(stream)
    await spin()

    assert await ids_of(outputs) == [1]
    assert await outputs.take() == []


async def test_an_error_comes_after_the_outputs_before_it() -> None:
    outputs = Outputs(Stream([tokens(1), Item(error="out of memory")]))
    await spin()

    assert await ids_of(outputs) == [1]
    with pytest.raises(EngineFailedError, match="out of memory"):
        await outputs.take()


async def test_settling_ends_with_the_last_output_and_not_later() -> None:
    stream = Stream([tokens(1)])
    outputs = Outputs(stream)
    settling = asyncio.ensure_future(outputs.settle(asyncio.get_running_loop().time() + 3600))
    await spin()
    assert not settling.done()

    stream.put(tokens(2, finish="stop"))

    await asyncio.wait_for(settling, 10)
    assert await ids_of(outputs) == [1, 2]
    outputs.close()


async def test_settling_until_a_time_that_has_passed_is_nothing() -> None:
    outputs = Outputs(Stream())

    await asyncio.wait_for(outputs.settle(0.0), 10)
    outputs.close()


async def test_a_closed_reader_asks_for_no_more() -> None:
    stream = Stream()
    outputs = Outputs(stream)
    outputs.close()
    await spin()

    stream.put(tokens(1))
    await spin()

    assert stream.asked == 1


def test_merging_joins_tokens_and_keeps_usage_and_the_first_finish() -> None:
    usage = {"prompt_tokens_details": {"cached_tokens": 4}}
    outputs: list[dict[str, Any]] = [
        {"token_ids": [1], "log_probs": [-1.0], "top_logprobs": [[{"token_id": 1, "logprob": -1.0}]]},
        {"token_ids": [2, 3], "log_probs": [-2.0, -3.0], "completion_usage": usage},
        {"token_ids": [], "finish_reason": "stop"},
        {"token_ids": [9], "finish_reason": "length"},
    ]

    assert merged(outputs) == {
        "token_ids": [1, 2, 3],
        "log_probs": [-1.0, -2.0, -3.0],
        "top_logprobs": [[{"token_id": 1, "logprob": -1.0}], [], []],
        "completion_usage": usage,
        "finish_reason": "stop",
    }
