"""A case as a request to an OpenAI API, and the API's answer as a reading."""

import contextlib
import http.client
import json
from collections.abc import Iterator
from typing import Any, Final

from components.peers.dynamo_worker import question
from components.peers.protocol import Answer, Mode
from toolcall.conformance import Case, ReadCall, Reading

MODEL: Final = "glm-conformance"
_LIMIT_S: Final = 60


class RefusedError(RuntimeError):
    """The API refused the request, or gave up on the answer."""


def ask(port: int, index: int, case: Case, mode: Mode) -> Answer:
    """Ask for the output of a case and return what the API made of it.

    Args:
        port: Where the API listens on the loopback.
        index: The case's place among the worker's.
        case: The case.
        mode: How the answer is asked for.
    """
    try:
        body = _post(port, json.dumps(_request(case, index, mode)))
        return Answer(case.id, mode, _joined(body) if mode == "streamed" else _whole(body))
    except (RefusedError, OSError, http.client.HTTPException) as error:
        return Answer(case.id, mode, error=str(error) or type(error).__name__)


def _post(port: int, body: str) -> bytes:
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=_LIMIT_S)) as connection:
        connection.request("POST", "/v1/chat/completions", body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        answered = response.read()
    if response.status != http.HTTPStatus.OK:
        raise RefusedError(f"HTTP {response.status}: {_message(answered)}")
    return answered


def _message(body: bytes) -> str:
    try:
        return str(json.loads(body)["message"])
    except (ValueError, KeyError, TypeError):
        return body.decode(errors="replace")


def _request(case: Case, index: int, mode: Mode) -> dict[str, Any]:
    tail = case.prompt_tail
    if tail is None:
        tail = "<|assistant|><think>" if case.thinking else "<|assistant|></think>"
    body = {
        "model": MODEL,
        "messages": [{"role": "user", "content": question(index, mode)}],
        "stream": mode == "streamed",
        # Dynamo refuses an empty list; a client without tools leaves it out.
        "tools": case.tools or None,
        "tool_choice": case.tool_choice,
        "parallel_tool_calls": case.parallel_tool_calls,
        "chat_template_kwargs": {"prompt_tail": tail, "enable_thinking": not tail.endswith("</think>")},
    }
    return {name: value for name, value in body.items() if value is not None}


def _whole(body: bytes) -> Reading:
    (choice,) = json.loads(body)["choices"]
    message = choice["message"]
    functions = [call["function"] for call in message.get("tool_calls") or ()]
    return Reading(
        message.get("reasoning_content") or "",
        message.get("content") or "",
        tuple(ReadCall(function["name"], function["arguments"]) for function in functions),
        choice["finish_reason"],
    )


def _joined(body: bytes) -> Reading:
    """Join the chunks of a stream, as an OpenAI client does."""
    reasoning = content = ""
    names: dict[int, str] = {}
    arguments: dict[int, str] = {}
    finish_reason = None
    for choice in (choice for event in _events(body) for choice in event["choices"]):
        delta = choice["delta"]
        reasoning += delta.get("reasoning_content") or ""
        content += delta.get("content") or ""
        for call in delta.get("tool_calls") or ():
            index, function = call["index"], call.get("function") or {}
            names[index] = names.get(index, "") + (function.get("name") or "")
            arguments[index] = arguments.get(index, "") + (function.get("arguments") or "")
        finish_reason = choice.get("finish_reason") or finish_reason
    calls = tuple(ReadCall(names[index], arguments[index]) for index in sorted(names))
    return Reading(reasoning, content, calls, finish_reason)


def _events(body: bytes) -> Iterator[dict[str, Any]]:
    # At line feeds only: a line separator (U+2028) may stand raw in the JSON.
    for line in body.split(b"\n"):
        if line == b"data: [DONE]":
            return
        if line.startswith(b"data: "):
            event = json.loads(line.removeprefix(b"data: "))
            if "choices" not in event:
                raise RefusedError(f"in the stream: {_message(json.dumps(event).encode())}")
            yield event
    raise RefusedError("the stream ended without [DONE]")
