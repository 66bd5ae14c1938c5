"""A Dynamo worker that gives every request the same answer, as fast as it is asked.

Usage: ``python -m benchmarks.frontend.scripted --model-path DIR --model-name NAME --kind calls --tokens-per-chunk 8``.
It registers with the parsers that Dynamo's own frontend has for GLM, so that both frontends read the same stream.
"""

import argparse
import asyncio
from collections.abc import AsyncIterator
from typing import Any

import uvloop
from dynamo.llm import ModelInput, ModelRuntimeConfig, ModelType, WorkerType, register_model
from dynamo.runtime import DistributedRuntime, Endpoint
from tokenizers import Tokenizer

from benchmarks.frontend import script

_CONTEXT = 262_144


def _arguments() -> argparse.Namespace:
    flags = argparse.ArgumentParser(prog="python -m benchmarks.frontend.scripted", description=__doc__)
    flags.add_argument("--model-path", required=True)
    flags.add_argument("--model-name", required=True)
    flags.add_argument("--kind", choices=("calls", "text"), required=True)
    flags.add_argument("--tokens-per-chunk", type=int, required=True)
    return flags.parse_args()


def _runtime_config() -> ModelRuntimeConfig:
    config = ModelRuntimeConfig()
    config.context_length = _CONTEXT
    config.total_kv_blocks = 1_000_000
    config.max_num_seqs = 1024
    config.max_num_batched_tokens = _CONTEXT
    config.kv_event_publishing_enabled = False
    # The only pair of GLM parsers that Dynamo 1.6.1 brings up.
    config.tool_call_parser = "glm47"
    config.reasoning_parser = "glm45"
    config.set_structural_tag({"scope": "always", "schema": "auto"})
    return config


async def _serve(endpoint: Endpoint, outputs: list[dict[str, Any]], flags: argparse.Namespace) -> None:
    async def generate(_request: dict[str, Any], context: Any) -> AsyncIterator[dict[str, Any]]:
        for output in outputs:
            if context.is_stopped():
                return
            yield output

    serving = asyncio.ensure_future(endpoint.serve_endpoint(generate))
    client = await endpoint.client()
    await client.wait_for_instances()
    await register_model(
        ModelInput.Tokens,
        ModelType.Chat,
        endpoint,
        flags.model_path,
        flags.model_name,
        kv_cache_block_size=64,
        worker_type=WorkerType.Aggregated,
        runtime_config=_runtime_config(),
        self_host_metadata=False,
    )
    await serving


async def _run(flags: argparse.Namespace) -> None:
    tokenizer = Tokenizer.from_file(f"{flags.model_path}/tokenizer.json")
    ids = tokenizer.encode(script.text_of(flags.kind), add_special_tokens=False).ids
    (end_id,) = tokenizer.encode(script.END, add_special_tokens=False).ids
    outputs = script.outputs(ids, end_id, flags.tokens_per_chunk)
    runtime = DistributedRuntime(asyncio.get_running_loop(), "file", "tcp", event_plane="zmq")
    await _serve(runtime.endpoint(f"dynamo.{flags.model_name}.generate"), outputs, flags)


if __name__ == "__main__":
    uvloop.run(_run(_arguments()))
