"""A Dynamo worker that says what the prompt tells it to.

The last user message is a JSON object: ``say`` (text to answer with), ``chunk`` (tokens in an output), ``finish``
(finish reason), ``error`` (raise after saying), ``endless`` (repeat until cancelled), ``logprob`` (of every token),
``engine_data`` (passed on with the last output).
Real frontend, real runtime and real request plane; only the model is replaced. What it was asked for is kept and given
back as text when told to ``echo`` a field of the request.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from typing import Any

import uvloop
from dynamo.llm import ModelInput, ModelRuntimeConfig, ModelType, WorkerType, register_model
from dynamo.llm.exceptions import InvalidArgument
from dynamo.runtime import DistributedRuntime
from tokenizers import Tokenizer

FOLDER = sys.argv[1]
TOKENIZER = Tokenizer.from_file(f"{FOLDER}/tokenizer.json")


def script(token_ids: list[int]) -> dict[str, Any]:
    prompt = TOKENIZER.decode(token_ids, skip_special_tokens=False)
    last = prompt.rsplit("<|user|>", 1)[1].rsplit("<|assistant|>", 1)[0]
    told: dict[str, Any] = json.loads(last)
    return told


async def generate(request: dict[str, Any], context: Any = None) -> AsyncIterator[dict[str, Any]]:
    told = script(request["token_ids"])
    text = json.dumps(request[told["echo"]]) if "echo" in told else told.get("say", "")
    ids = TOKENIZER.encode(text, add_special_tokens=False).ids
    size = told.get("chunk", 1)
    while True:
        for start in range(0, len(ids), size):
            if context.is_stopped():
                return
            tokens = ids[start : start + size]
            output: dict[str, Any] = {"token_ids": tokens}
            if request["output_options"].get("logprobs") is not None:
                tops = [{"rank": 1, "token_id": token, "token": "?", "logprob": told["logprob"]} for token in tokens]
                output |= {"log_probs": [told["logprob"]] * len(tokens), "top_logprobs": [[top] for top in tops]}
            yield output
        if not told.get("endless"):
            break
        await asyncio.sleep(0)
    if "error" in told:
        raise InvalidArgument(told["error"])
    yield {"token_ids": [], "finish_reason": told.get("finish", "stop"), "engine_data": told.get("engine_data")}


async def main() -> None:
    runtime = DistributedRuntime(asyncio.get_running_loop(), "file", "tcp", event_plane="zmq")
    endpoint = runtime.endpoint("dynamo.backend.generate")
    served = asyncio.ensure_future(endpoint.serve_endpoint(generate))
    client = await endpoint.client()
    await client.wait_for_instances()
    await register_model(
        ModelInput.Tokens,
        ModelType.Chat,
        endpoint,
        FOLDER,
        "glm",
        worker_type=WorkerType.Aggregated,
        runtime_config=ModelRuntimeConfig(),
    )
    await served


if __name__ == "__main__":
    uvloop.run(main())
