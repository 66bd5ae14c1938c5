"""The chat engine: an OpenAI request in, ``chat.completion.chunk`` objects out.

Dynamo calls it on a thread of its own for every request. What costs time (rendering, tokenizing, building the tag) runs
there, off the event loop; what streams runs on the loop.
"""

import asyncio
import contextlib
import itertools
import json
import logging
from collections.abc import AsyncIterator, Iterator
from typing import Any, Literal, Protocol

import msgspec
from dynamo.llm.exceptions import InvalidArgument

from components.frontend.constrain import ReasoningGate, guided_decoding
from components.frontend.errors import RequestError
from components.frontend.flight import Flight, RoutedEngine
from components.frontend.history import template_messages
from components.frontend.keylocks import KeyLocks
from components.frontend.metrics import Metrics
from components.frontend.model import ServedModel
from components.frontend.outputs import EngineFailedError, Outputs
from components.frontend.pairs import Prompt
from components.frontend.placing import Placing
from components.frontend.reply import Reply
from components.frontend.request import ChatRequest, Json, read_request
from components.frontend.routing import identity_hints, route_request
from components.frontend.sampling import generation_limit, output_options, sampling_options, stop_conditions
from components.frontend.tally import Tally
from components.frontend.timeline import Timeline
from router.identity import Hints, identify
from router.lineage import Lineage
from router.trail import Trail, follow
from toolcall import SchemaError, ToolSet, is_shallow, parse_tools
from toolcall.buckets import Judge

log = logging.getLogger(__name__)

REFUSALS = (RequestError, SchemaError)


class Context(Protocol):
    """What the engine uses of Dynamo's request context."""

    metadata: Any

    def id(self) -> str:
        """Return the request's id."""

    def is_stopped(self) -> bool:
        """Tell whether the client has gone."""

    def stop_generating(self) -> None:
        """Ask the workers to stop."""


CHUNKS_PER_SECOND = 500
"""Most chunks a second that all streams of a process send together, their first and last apart.

A chunk that leaves costs about 290 us of CPU between Python and Rust (ours less the floor, a chunk, in the profile of
`benchmarks/frontend`), so that many streams share: up to 10 the default interval holds, of 100 each sends 5 a second.
"""


class Settings(msgspec.Struct, frozen=True):
    """How the engine answers.

    Attributes:
        reasoning_gate: Who lets reasoning pass a constraint, see ``constrain``.
        stream_interval_ms: Least time between two chunks of a stream, in ms; the first and the last never wait.
    """

    reasoning_gate: ReasoningGate = "tag"
    stream_interval_ms: float = 20.0


class Job(msgspec.Struct):
    """A request made ready for the workers.

    Attributes:
        request: What the client asked for.
        hints: What it says of its session.
        trail: Its prompt's fingerprints.
        prompt: The prompt as the index is asked for it.
        preprocessed: The same as the workers want it.
        reply: Becomes the answer.
    """

    request: ChatRequest
    hints: Hints
    trail: Trail
    prompt: Prompt
    preprocessed: Json
    reply: Reply


class ChatEngine:
    """Serves one model's chat completions.

    Args:
        model: The model, as its folder describes it.
        routed: Dynamo's routed engine for the model's workers.
        placing: Chooses where a request goes and keeps the book of requests in flight.
        settings: How the engine answers.
        metrics: Counts every answer to a request with tools, and observes where every answer's time went.
    """

    def __init__(
        self,
        model: ServedModel,
        routed: RoutedEngine,
        placing: Placing,
        settings: Settings,
        metrics: Metrics,
    ) -> None:
        self._model = model
        self._routed = routed
        self._placing = placing
        self._request_ids = itertools.count()
        self._settings = settings
        self._metrics = metrics
        self._building = KeyLocks()
        self._lineage = Lineage()
        metrics.tools.expect(model.name)
        metrics.phases.expect(model.name)

    def __call__(self, body: Json, context: Context) -> AsyncIterator[Json]:
        """Prepare the request and return its stream of chunks.

        A refusal is raised by the stream, not here: Dynamo turns only the former into a 4xx.
        """
        try:
            return self._answer(self._prepare(body, context), context)
        except REFUSALS as error:
            return _refusal(error)
        except Exception:
            log.exception("request %s could not be prepared", context.id())
            raise

    def _prepare(self, body: Json, context: Context) -> Job:
        timeline = Timeline()
        request = read_request(body)
        tools, judge = self._tools(request)
        prompt_text = self._render(request)
        prompt = self._model.prompts.encode(prompt_text)
        limit = generation_limit(request, len(prompt), self._model.context_length)
        reasoning = prompt_text.endswith("<think>")
        with self._building.of(tools.key):
            guided = guided_decoding(request, tools, reasoning=reasoning, gate=self._settings.reasoning_gate)
            tally = Tally(tools, judge, shallow=is_shallow(tools))
        preprocessed = {
            "model": request.model,
            # Dynamo takes little-endian uint32 bytes as well as a list: 0.2 ms and not 3 for 150K tokens.
            "token_ids": prompt.tobytes(),
            "stop_conditions": stop_conditions(request, limit, self._model.eos_token_ids),
            "sampling_options": sampling_options(request, guided),
            "output_options": output_options(request),
            "eos_token_ids": self._model.eos_token_ids,
            "annotations": [],
        }
        reply = Reply(
            request,
            self._model,
            tools,
            tally,
            len(prompt),
            timeline=timeline,
            reasoning=reasoning,
            request_id=context.id(),
        )
        hints = identity_hints(body, context)
        trail = follow(hints.scope, prompt)
        job = Job(request, hints, trail, self._placing.prepare(trail.tokens), preprocessed, reply)
        timeline.prepared()
        return job

    def _tools(self, request: ChatRequest) -> tuple[ToolSet, Judge]:
        # Sub-agents start together with tools that are new to all of them.
        with self._building.of(msgspec.json.encode(request.tools)):
            tools = parse_tools(request.tools, request.tool_choice, request.parallel_tool_calls)
            return tools, Judge(request.tools)

    def _render(self, request: ChatRequest) -> str:
        variables = {**(request.chat_template_args or {}), **(request.chat_template_kwargs or {})}
        if request.reasoning_effort is not None:
            variables.setdefault("reasoning_effort", request.reasoning_effort)
            if request.reasoning_effort == "none":
                variables.setdefault("enable_thinking", False)
        # A model that may not call should not read about tools.
        tools = None if request.tool_choice == "none" else request.tools
        return self._model.template.render(template_messages(request.messages), tools, **variables)

    async def _answer(self, job: Job, context: Context) -> AsyncIterator[Json]:
        with self._counted(job.reply, context):
            tokens = job.reply.tokens
            identity = identify(job.hints, job.trail, self._lineage)
            self._placing.metrics.identified(self._model.name, identity.rung)
            # The context's id may be the client's own, and two requests may have the same.
            request_id = str(next(self._request_ids))
            asked = route_request(job.request, request_id, tokens.prompt, identity.key)
            flight = Flight(self._placing, asked, context.is_stopped)
            try:
                started = await flight.start(self._routed, job.preprocessed, job.prompt, context)
                job.reply.timeline.placed(flight.placement_ms)
                async for chunk in self._chunks(job.reply, flight, *started, context):
                    yield chunk
                if job.request.wants_usage and job.reply.finished:
                    yield job.reply.usage()
            finally:
                flight.finish(tokens, finished=job.reply.finished)

    @contextlib.contextmanager
    def _counted(self, reply: Reply, context: Context) -> Iterator[None]:
        try:
            yield
        finally:
            self._metrics.tools.count(self._model.name, reply.tally, reply.finish_reason or _failure(context))
            if reply.finished:
                self._metrics.phases.observe(self._model.name, reply.timeline)

    def _interval(self) -> float:
        return max(self._settings.stream_interval_ms / 1e3, self._placing.streams() / CHUNKS_PER_SECOND)

    async def _chunks(
        self, reply: Reply, flight: Flight, outputs: Outputs, batch: list[Json], context: Context
    ) -> AsyncIterator[Json]:
        loop = asyncio.get_running_loop()
        try:
            first = True
            while batch:
                reply.feed(batch)
                if first and not reply.streaming:
                    # The chunk of a whole answer comes at its end; the server's time to first token is now.
                    yield {
                        "_dynamo_annotated": True,
                        "event": "llm_metrics",
                        "comment": [json.dumps(reply.tokens.meter())],
                    }
                first = False
                if (chunk := reply.take()) is not None:
                    sent = loop.time()
                    yield chunk
                    if not reply.finished:
                        await outputs.settle(sent + self._interval())
                if reply.finished:
                    return
                try:
                    batch = await outputs.take()
                except Exception as error:
                    raise await flight.broken(error) from error
            if not context.is_stopped():
                raise EngineFailedError("the engine's stream ended without a finish reason")
        finally:
            outputs.close()


def _failure(context: Context) -> Literal["cancelled", "error"]:
    """Return how an answer ended that has no finish reason."""
    return "cancelled" if context.is_stopped() else "error"


async def _refusal(error: ValueError) -> AsyncIterator[Json]:
    raise InvalidArgument(str(error)) from error
    yield {}
