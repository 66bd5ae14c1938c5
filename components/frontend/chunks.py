"""``chat.completion.chunk`` objects."""

import time
import uuid
from collections.abc import Sequence
from typing import Any

from components.frontend.request import Json
from toolcall import ArgumentsDelta, CallEnd, CallStart, ContentDelta, Event, ReasoningDelta


def new_call_id() -> str:
    """Return an id for a tool call, unique over all answers."""
    return f"call_{uuid.uuid4().hex[:24]}"


class ChunkWriter:
    """Writes the chunks of one answer.

    Args:
        request_id: Becomes part of the answer's id.
        model: The name the client sent.
    """

    def __init__(self, request_id: str, model: str) -> None:
        self._head = {
            "id": f"chatcmpl-{request_id}",
            "object": "chat.completion.chunk",
            "created": int(time.time()),
            "model": model,
        }
        self._role_sent = False

    def delta(self, delta: Json, logprobs: Sequence[Json] | None = None, finish_reason: str | None = None) -> Json:
        """Return a chunk with what is new, the role in the first of them."""
        if not self._role_sent:
            self._role_sent = True
            delta = {"role": "assistant", "content": "", **delta}
        choice: Json = {"index": 0, "delta": delta, "finish_reason": finish_reason}
        if logprobs:
            choice["logprobs"] = {"content": list(logprobs), "refusal": None}
        return {**self._head, "choices": [choice]}

    def usage(self, usage: Json) -> Json:
        """Return the closing chunk that carries usage and no choice."""
        return {**self._head, "choices": [], "usage": usage}


def delta_of(events: Sequence[Event]) -> Json:
    """Return the one delta that says what a run of parser events says.

    Events that came together travel together: texts are joined, and a call's name and the first of its arguments share
    an entry.
    """
    content: list[str] = []
    reasoning: list[str] = []
    calls: dict[int, Json] = {}
    for event in events:
        match event:
            case ContentDelta(text):
                content.append(text)
            case ReasoningDelta(text):
                reasoning.append(text)
            case CallStart(index, name):
                function = {"name": name, "arguments": ""}
                calls[index] = {"index": index, "id": new_call_id(), "type": "function", "function": function}
            case ArgumentsDelta(index, text):
                entry = calls.setdefault(index, {"index": index, "function": {"arguments": ""}})
                entry["function"]["arguments"] += text
            case CallEnd():
                pass
    delta: dict[str, Any] = {}
    if reasoning:
        delta["reasoning_content"] = "".join(reasoning)
    if content:
        delta["content"] = "".join(content)
    if calls:
        delta["tool_calls"] = list(calls.values())
    return delta
