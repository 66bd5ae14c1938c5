"""One answer: engine outputs in, chunks out.

Token ids become text, stop strings end it, the parser tells reasoning, content and calls apart, and what came together
leaves together as one chunk.
"""

import logging
from collections.abc import Sequence
from typing import Any

from components.frontend.chunks import ChunkWriter, delta_of
from components.frontend.detokenization import Detokenizer
from components.frontend.logprobs import logprob_entries
from components.frontend.model import ServedModel
from components.frontend.outputs import EngineFailedError, merged
from components.frontend.request import ChatRequest, Json
from components.frontend.stop import StopStrings
from components.frontend.tally import Tally
from components.frontend.timeline import Timeline
from components.frontend.usage import TokenCounter
from toolcall import CallEnd, ContentDelta, Event, Parser, ReasoningDelta, ToolSet

log = logging.getLogger(__name__)

ENGINE_FINISH = {"eos": "stop", "stop": "stop", "length": "length", "content_filter": "content_filter"}
"""Dynamo's finish reasons under OpenAI's names."""


class Reply:
    """The state of one answer.

    Args:
        request: The client's request.
        model: The model that answers.
        tools: The request's tools.
        tally: Is told of the calls that leave.
        prompt_tokens: Length of the prompt.
        timeline: Is told of the first and the last output.
        reasoning: Whether the output starts inside reasoning.
        request_id: Becomes part of the answer's id.
    """

    def __init__(
        self,
        request: ChatRequest,
        model: ServedModel,
        tools: ToolSet,
        tally: Tally,
        prompt_tokens: int,
        *,
        timeline: Timeline,
        reasoning: bool,
        request_id: str,
    ) -> None:
        self._model = model
        self._request_id = request_id
        self.streaming = request.streaming
        # The server asks for stop_reason on /v1/messages, which names the stop sequence that matched.
        self._extra_fields = frozenset((request.nvext or {}).get("extra_fields") or ())
        self._top_logprobs = request.top_logprobs or 0
        self._writer = ChunkWriter(request_id, request.model)
        self._detokenizer = Detokenizer(model.token_bytes, skip_special=request.skip_special_tokens is not False)
        self._stops = StopStrings(request.stop_strings, include=bool(request.include_stop_str_in_output))
        self._parser = Parser(tools, reasoning=reasoning)
        self.tally = tally
        self.timeline = timeline
        self._events: list[Event] = []
        self._logprobs: list[Json] = []
        self.tokens = TokenCounter(prompt_tokens, model.think_end_id if reasoning else None)
        self.finish_reason: str | None = None

    @property
    def finished(self) -> bool:
        """Whether the answer has its finish reason; nothing may be fed after."""
        return self.finish_reason is not None

    def feed(self, outputs: Sequence[Json]) -> None:
        """Take in engine outputs, ``LLMEngineOutput`` objects in Dynamo's form.

        Outputs after the one that finishes the answer are ignored.

        Raises:
            EngineFailedError: If an output reports an error.
        """
        self.timeline.first_token()
        # What came together is read at once, unless a stop string may end the answer in its middle.
        for output in outputs if self._stops else [merged(outputs)]:
            if self.finished:
                return
            self._feed_one(output)

    def _feed_one(self, output: Json) -> None:
        self.tokens.count(output)
        finish = _engine_finish(output.get("finish_reason"))
        if finish is not None:
            self.timeline.read(output)
        shown = self._without_end_token(output) if finish == "stop" else output
        if shown.get("log_probs"):
            self._logprobs.extend(logprob_entries(shown, self._model.token_bytes, self._top_logprobs))
        text = self._detokenizer.feed(shown.get("token_ids") or ())
        if finish is not None:
            text += self._detokenizer.finish()
        self._read(text, finish)

    def _without_end_token(self, output: Json) -> Json:
        """Return the output without the end token that engines such as vLLM leave at its end: it is no text."""
        token_ids = output.get("token_ids")
        if not token_ids or token_ids[-1] not in self._model.eos_token_ids:
            return output
        cut = {name: output[name][:-1] for name in ("token_ids", "log_probs", "top_logprobs") if output.get(name)}
        return {**output, **cut}

    def _read(self, text: str, finish: str | None) -> None:
        text = self._stops.feed(text)
        if self._stops.matched is not None:
            finish = "stop"
        if finish is not None:
            text += self._stops.finish()
        if text:
            self._events.extend(self._parser.feed(text))
        if finish is not None:
            self._events.extend(self._parser.finish(finish))
            self.finish_reason = self._parser.finish_reason
            self.tally.dropped = self._parser.dropped
            if self._parser.truncated is not None:
                self.tally.truncated = 1
                log.warning("request %s: a call was cut by the limit: %.200r", self._request_id, self._parser.truncated)

    def take(self) -> Json | None:
        """Return a chunk with everything that is new, or None when nothing is.

        A whole (not streamed) answer is one chunk, at the end; a call that never ended is no part of it.
        """
        if not self.streaming and not self.finished:
            return None
        events, self._events = self._events, []
        self._report(events)
        self.tally.read(events)
        if not self.streaming:
            events = _ended(events)
        delta = delta_of(events)
        if not delta and not self.finished:
            return None
        logprobs, self._logprobs = self._logprobs, []
        chunk = {**self._writer.delta(delta, logprobs, self.finish_reason), "llm_metrics": self.tokens.meter()}
        if self._extra_fields and self.finished and (extra := self._extra()):
            chunk["nvext"] = extra
        return chunk

    def _extra(self) -> Json:
        extra: Json = {}
        if "stop_reason" in self._extra_fields and self._stops.matched is not None:
            extra["stop_reason"] = self._stops.matched
        if "timing" in self._extra_fields:
            extra["timing"] = self.timeline.timing()
        return extra

    def _report(self, events: list[Event]) -> None:
        for event in events:
            if isinstance(event, CallEnd) and event.status.kind != "ok":
                status = event.status
                log.warning("request %s: call %d is %s: %s", self._request_id, event.index, status.kind, status.message)

    def usage(self) -> Json:
        """Return the closing chunk, which carries usage and no choice."""
        return self._writer.usage(self.tokens.usage())


def _engine_finish(reason: Any) -> str | None:
    if reason is None:
        return None
    if isinstance(reason, str) and (known := ENGINE_FINISH.get(reason)) is not None:
        return known
    raise EngineFailedError(f"the engine ended the answer with {reason}")


def _ended(events: list[Event]) -> list[Event]:
    ended = {event.index for event in events if isinstance(event, CallEnd)}
    return [event for event in events if isinstance(event, (ContentDelta, ReasoningDelta)) or event.index in ended]
