"""Dynamo's frontend with its own chat engine, a scripted worker, and discovery in memory: one process, no service."""

import asyncio
import contextlib
import http.client
import socket
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from dynamo.llm import (
    EngineType,
    EntrypointArgs,
    ModelInput,
    ModelRuntimeConfig,
    ModelType,
    WorkerType,
    make_engine,
    register_model,
    run_input,
)
from dynamo.runtime import DistributedRuntime, Endpoint
from tokenizers import Tokenizer

from components.peers.dynamo_client import MODEL, ask
from components.peers.dynamo_model import CONTEXT_LENGTH
from components.peers.dynamo_worker import ScriptedWorker
from components.peers.protocol import MODES, Answer
from toolcall.conformance import Case

_HOST: Final = "127.0.0.1"
_READY_LIMIT_S: Final = 30
_POLL_S: Final = 0.02
# An answer is mostly waiting for the next hand-over between the runtime's threads and Python's.
_AT_ONCE: Final = 4


async def ask_all(folder: Path, tokenizer: Tokenizer, cases: Sequence[Case]) -> list[Answer]:
    """Serve the cases and have the API answer each, whole and streamed.

    Args:
        folder: The model's folder.
        tokenizer: Its tokenizer.
        cases: The cases.

    Raises:
        TimeoutError: The API did not list the model within 30 s.
    """
    runtime = DistributedRuntime(asyncio.get_running_loop(), "mem", "tcp", event_plane="zmq")
    endpoint = runtime.endpoint("peers.backend.generate")
    serving = [asyncio.ensure_future(endpoint.serve_endpoint(ScriptedWorker(tokenizer, cases).generate))]
    try:
        await _register(endpoint, folder)
        port = _free_port()
        engine = await make_engine(runtime, EntrypointArgs(EngineType.Dynamic, http_host=_HOST, http_port=port))
        serving.append(asyncio.ensure_future(run_input(runtime, "http", engine)))
        # The worker answers on this thread, so the questions are asked from another.
        return await asyncio.to_thread(_ask_each, port, cases)
    finally:
        runtime.shutdown()
        await asyncio.gather(*serving)


async def _register(endpoint: Endpoint, folder: Path) -> None:
    client = await endpoint.client()
    await client.wait_for_instances()
    config = ModelRuntimeConfig()
    config.context_length = CONTEXT_LENGTH
    # The only pair of GLM parsers that Dynamo 1.6.1 brings up by default.
    config.tool_call_parser = "glm47"
    config.reasoning_parser = "glm45"
    config.set_structural_tag({"scope": "always", "schema": "auto"})
    await register_model(
        ModelInput.Tokens,
        ModelType.Chat,
        endpoint,
        str(folder),
        MODEL,
        worker_type=WorkerType.Aggregated,
        runtime_config=config,
    )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((_HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def _is_listed(port: int) -> bool:
    with contextlib.closing(http.client.HTTPConnection(_HOST, port, timeout=_READY_LIMIT_S)) as connection:
        try:
            connection.request("GET", "/v1/models")
            return MODEL.encode() in connection.getresponse().read()
        except OSError:
            return False


def _ask_each(port: int, cases: Sequence[Case]) -> list[Answer]:
    deadline = time.monotonic() + _READY_LIMIT_S
    while not _is_listed(port):
        if time.monotonic() > deadline:
            raise TimeoutError(f"Dynamo's frontend did not list the model within {_READY_LIMIT_S} s")
        time.sleep(_POLL_S)
    questions = [(index, case, mode) for index, case in enumerate(cases) for mode in MODES]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(lambda question: ask(port, *question), questions))
