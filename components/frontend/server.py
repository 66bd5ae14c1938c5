"""The frontend process: Dynamo's HTTP server around our chat engine."""

import argparse
import asyncio
import gc
import logging
import os
import signal
from pathlib import Path
from typing import Any

from dynamo._core import ModelDeploymentCard
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

from components.frontend.engine import ChatEngine, Settings
from components.frontend.metrics import Metrics
from components.frontend.model import ServedModel
from components.frontend.places import Places
from components.frontend.state import state_route

log = logging.getLogger(__name__)

ERROR_PEEK_MS = "5000"
"""How long Dynamo's server waits for a stream's first event before it commits to status 200, in ms.

A refusal within it is a 4xx; later it could only be an event inside a 200. The longest refusal is a cold prompt beyond
the context: rendering and tokenizing 300K tokens took 0.7 s. A first token ends the wait at once.
"""

MODES = {
    "kv": RouterMode.KV,
    "round-robin": RouterMode.RoundRobin,
    "random": RouterMode.Random,
    "least-loaded": RouterMode.LeastLoaded,
    "direct": RouterMode.Direct,
}


class Frontend:
    """One frontend: its metrics, and a router and a chat engine for every model that workers register.

    Args:
        flags: The parsed flags of ``components.frontend.args``.
    """

    def __init__(self, flags: argparse.Namespace) -> None:
        self._flags = flags
        self.metrics = Metrics()
        host_tokens = flags.router_host_tokens or 0
        self.places = Places(flags.router_policy, flags.prefill_component, self.metrics.router, host_tokens)
        self.metrics.watch(self.places)
        self._runtime: DistributedRuntime | None = None

    async def chat_engine(self, instance: Any, card: ModelDeploymentCard, routed: Any) -> PythonAsyncEngine:
        """Return the engine of a model that appeared; Dynamo's ``chat_engine_factory``."""
        flags = self._flags
        context = flags.context_length or int(card.runtime_config().get("context_length") or 0)
        model = await asyncio.to_thread(ServedModel, Path(card.local_dir()), card.name(), context)
        settings = Settings(reasoning_gate=flags.reasoning_gate, stream_interval_ms=flags.stream_interval_ms)
        log.info("serving %s, context of %d tokens", model.name, model.context_length)
        placing = await self.places.of(model.name, self._runtime, instance.triple())
        engine = ChatEngine(model, routed, placing, settings, self.metrics)
        return PythonAsyncEngine(engine, asyncio.get_running_loop())

    async def serve(self) -> None:
        """Serve until SIGTERM or SIGINT, then let answers in flight end, within the drain timeout."""
        flags = self._flags
        loop = asyncio.get_running_loop()
        # Every output is a handful of short-lived objects and no cycle: at the default threshold of 700 the collector
        # took a fifth of the CPU of a token.
        gc.freeze()
        gc.set_threshold(100_000)
        os.environ.setdefault("DYN_HTTP_PRE_COMMIT_ERROR_PEEK_MS", ERROR_PEEK_MS)
        os.environ.setdefault("DYN_HTTP_GRACEFUL_SHUTDOWN_TIMEOUT_SECS", str(int(flags.drain_timeout_s)))
        runtime = DistributedRuntime(
            loop,
            flags.discovery_backend or os.environ.get("DYN_DISCOVERY_BACKEND", "etcd"),
            flags.request_plane or os.environ.get("DYN_REQUEST_PLANE", "tcp"),
            event_plane=flags.event_plane or os.environ.get("DYN_EVENT_PLANE", "zmq"),
        )
        self._runtime = runtime
        # Never served and so never discovered: it only gives the metrics a place in this runtime.
        self.metrics.expose(runtime.endpoint("dynamo.frontend.metrics"))
        for signum in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(signum, runtime.shutdown)
        entrypoint = EntrypointArgs(
            EngineType.Dynamic,
            http_host=flags.http_host,
            http_port=flags.http_port,
            router_config=RouterConfig(MODES[flags.router_mode], KvRouterConfig()),
            kv_cache_block_size=flags.kv_cache_block_size,
            migration_limit=flags.migration_limit,
            namespace=flags.namespace,
            chat_engine_factory=self.chat_engine,
            enable_anthropic_api=True,
        )
        try:
            await run_input(runtime, "http", await make_engine(runtime, entrypoint), [state_route(self.places)])
        finally:
            await self.places.close()
