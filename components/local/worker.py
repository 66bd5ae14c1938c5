"""The decoder as a Dynamo worker: serves `{namespace}.{component}.generate` and registers as the decode stage."""

import asyncio
import logging
import signal
from argparse import Namespace
from collections.abc import AsyncIterator
from time import monotonic
from typing import Any

from dynamo.common.utils.graceful_shutdown import graceful_shutdown_with_discovery
from dynamo.llm import ModelInput, ModelRuntimeConfig, ModelType, WorkerType, register_model
from dynamo.llm.exceptions import InvalidArgument
from dynamo.runtime import Context, DistributedRuntime, Endpoint

from components.local import request as requests
from components.local import vocabulary as vocabularies
from components.local.generation import Chunk, Generation
from components.local.grammar import Compiler, GrammarError
from components.local.language import Language
from components.local.pacing import Pace
from components.local.request import Request, RequestError

logger = logging.getLogger(__name__)

# Long enough for frontends to see that the instance is gone before it stops to listen.
_GRACE_SECONDS = 0.2
_POLL_SECONDS = 0.01


class StartError(RuntimeError):
    """The decoder cannot join its graph."""


class Decoder:
    """Answers preprocessed requests, up to `max_num_seqs` at once."""

    def __init__(self, args: Namespace) -> None:
        self._vocabulary = vocabularies.load(args.model_path)
        self._language = Language(self._vocabulary)
        self._compiler = Compiler(self._vocabulary)
        self._seed: int = args.seed
        self._max_model_len: int = args.max_model_len
        self._interval: float = args.inter_token_latency_ms / 1000
        self._running = asyncio.Semaphore(args.max_num_seqs)

    async def generate(self, raw: dict[str, Any], context: Context) -> AsyncIterator[dict[str, Any]]:
        """Stream the answer to a preprocessed request as Dynamo's `LLMEngineOutput` dicts.

        Raises:
            InvalidArgument: The request cannot be served as it is: the client's mistake.
        """
        try:
            request = requests.parse(raw, self._max_model_len)
            matcher = await self._compiler.matcher(request.guided)
        except (RequestError, GrammarError) as error:
            logger.warning("request %s refused: %s", context.id(), error)
            raise InvalidArgument(str(error)) from error
        async with self._running:
            generation = Generation(request, self._vocabulary, self._language, matcher, self._seed)
            pace = Pace(self._interval, monotonic() + self._interval)
            chunk = Chunk()
            while chunk.finish_reason is None:
                # Also without a delay: other requests get their turn.
                await asyncio.sleep(pace.delay(generation.count, monotonic()))
                chunk = _step(generation, pace, context)
                yield _output(chunk, request, generation.count)


def _step(generation: Generation, pace: Pace, context: Context) -> Chunk:
    if context.is_stopped():
        return Chunk(finish_reason="cancelled")
    try:
        return generation.take(pace.due(generation.count, monotonic()))
    except Exception:
        logger.exception("request %s failed after %d tokens", context.id(), generation.count)
        raise


def _output(chunk: Chunk, request: Request, count: int) -> dict[str, Any]:
    output: dict[str, Any] = {"token_ids": chunk.token_ids, "index": 0}
    if request.top_logprobs is not None:
        output["log_probs"] = chunk.log_probs
        if request.top_logprobs:
            output["top_logprobs"] = chunk.top_logprobs
    if chunk.finish_reason is not None:
        prompt = len(request.prompt)
        output["finish_reason"] = chunk.finish_reason
        output["completion_usage"] = {
            "prompt_tokens": prompt,
            "completion_tokens": count,
            "total_tokens": prompt + count,
            "prompt_tokens_details": request.prompt_tokens_details,
        }
    return output


async def serve(args: Namespace) -> None:
    """Serve until SIGINT or SIGTERM, then finish the answers that are being written.

    Raises:
        ModelError: The model folder has no tokenizer of GLM's format.
        StartError: Discovery or a plane cannot be reached.
    """
    decoder = Decoder(args)
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for signum in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(signum, stop.set)
    runtime = _runtime(loop, args)
    endpoint = runtime.endpoint(f"{args.namespace}.{args.component}.generate")
    running = asyncio.create_task(_run(endpoint, decoder, args))
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait({running, stopping}, return_when=asyncio.FIRST_COMPLETED)
    if running.done():
        stopping.cancel()
        await running
    await graceful_shutdown_with_discovery(runtime, [endpoint], grace_period_s=_GRACE_SECONDS)
    await asyncio.wait({running})
    if error := running.exception():
        logger.info("stopped while starting: %s", error)


def _runtime(loop: asyncio.AbstractEventLoop, args: Namespace) -> DistributedRuntime:
    try:
        return DistributedRuntime(loop, args.discovery_backend, args.request_plane, event_plane=args.event_plane)
    # The binding raises nothing narrower.
    except Exception as error:
        raise StartError(f"cannot start with --discovery-backend {args.discovery_backend}: {error}") from error


async def _run(endpoint: Endpoint, decoder: Decoder, args: Namespace) -> None:
    serving = asyncio.ensure_future(endpoint.serve_endpoint(decoder.generate, graceful_shutdown=True))
    # A model that is announced before its instance is answered with 503.
    client = await endpoint.client()
    while endpoint.connection_id() not in await client.wait_for_instances():  # noqa: ASYNC110 - no event for one's own
        await asyncio.sleep(_POLL_SECONDS)
    await _register(endpoint, args)
    logger.info("registered %s as instance %s", args.model_name, endpoint.connection_id())
    await serving


async def _register(endpoint: Endpoint, args: Namespace) -> None:
    config = ModelRuntimeConfig()
    config.context_length = args.max_model_len
    config.total_kv_blocks = args.total_kv_blocks
    config.max_num_seqs = args.max_num_seqs
    await register_model(
        ModelInput.Tokens,
        ModelType.Chat,
        endpoint,
        str(args.model_path),
        args.model_name,
        worker_type=WorkerType.Decode,
        kv_cache_block_size=args.block_size,
        runtime_config=config,
        needs=[[WorkerType.Prefill]],
        # The folder is on the machine that the frontend runs on.
        self_host_metadata=False,
    )
