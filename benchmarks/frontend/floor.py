"""A frontend whose chat engine reads the routed stream and says one word at its end.

What it costs is what crossing from Rust to Python costs: a chat engine that reads its outputs one by one cannot cost
less. Usage: ``python -m benchmarks.frontend.floor --http-port PORT``.
"""

import argparse
import asyncio
import gc
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import uvloop
from dynamo.llm import (
    EngineType,
    EntrypointArgs,
    KvRouterConfig,
    PythonAsyncEngine,
    RouterConfig,
    RouterMode,
    make_engine,
    run_input,
)
from dynamo.runtime import DistributedRuntime
from tokenizers import Tokenizer


class FloorEngine:
    """Reads outputs by callbacks, without a task: the cheapest way to read a routed stream.

    Args:
        routed: Dynamo's routed engine.
        tokenizer: The model's.
    """

    def __init__(self, routed: Any, tokenizer: Tokenizer) -> None:
        self._routed = routed
        self._tokenizer = tokenizer

    async def __call__(self, body: dict[str, Any], context: Any) -> AsyncIterator[dict[str, Any]]:
        """Yield one chunk and the usage."""
        prompt = self._tokenizer.encode(body["messages"][-1]["content"]).ids
        stream = await self._routed.generate(_preprocessed(body, prompt), context=context)
        tokens = await _drained(stream)
        head = {
            "id": f"chatcmpl-{context.id()}",
            "object": "chat.completion.chunk",
            "created": int(time.time()),
            "model": body["model"],
        }
        yield {
            **head,
            "choices": [{"index": 0, "delta": {"role": "assistant", "content": "x"}, "finish_reason": "stop"}],
        }
        usage = {"prompt_tokens": len(prompt), "completion_tokens": tokens, "total_tokens": len(prompt) + tokens}
        yield {**head, "choices": [], "usage": usage}


def _preprocessed(body: dict[str, Any], prompt: list[int]) -> dict[str, Any]:
    return {
        "model": body["model"],
        "token_ids": prompt,
        "stop_conditions": {"max_tokens": body["max_tokens"], "ignore_eos": True},
        "sampling_options": {},
        "output_options": {},
        "eos_token_ids": [],
        "annotations": [],
    }


async def _drained(stream: Any) -> int:
    """Read a stream to its end and return how many tokens it had."""
    ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    tokens = 0

    def arrived(future: "asyncio.Future[Any]") -> None:
        nonlocal tokens
        if (error := future.exception()) is not None:
            if isinstance(error, StopAsyncIteration):
                ended.set_result(tokens)
            else:
                ended.set_exception(error)
            return
        if (data := future.result().data()) is not None:
            tokens += len(data["token_ids"])
        stream.__anext__().add_done_callback(arrived)

    stream.__anext__().add_done_callback(arrived)
    return await ended


async def _chat_engine(_instance: Any, card: Any, routed: Any) -> PythonAsyncEngine:
    tokenizer = Tokenizer.from_file(str(Path(card.local_dir()) / "tokenizer.json"))
    return PythonAsyncEngine(FloorEngine(routed, tokenizer), asyncio.get_running_loop())


async def _serve(port: int) -> None:
    # As in our frontend.
    gc.freeze()
    gc.set_threshold(100_000)
    runtime = DistributedRuntime(asyncio.get_running_loop(), "file", "tcp", event_plane="zmq")
    entrypoint = EntrypointArgs(
        EngineType.Dynamic,
        http_host="127.0.0.1",
        http_port=port,
        router_config=RouterConfig(RouterMode.KV, KvRouterConfig()),
        kv_cache_block_size=64,
        chat_engine_factory=_chat_engine,
    )
    await run_input(runtime, "http", await make_engine(runtime, entrypoint))


if __name__ == "__main__":
    flags = argparse.ArgumentParser(prog="python -m benchmarks.frontend.floor", description=__doc__)
    flags.add_argument("--http-port", type=int, required=True)
    uvloop.run(_serve(flags.parse_args().http_port))
