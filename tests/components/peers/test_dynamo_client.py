"""The client against an HTTP server that answers what it is told to."""

import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from components.peers.dynamo_client import ask
from components.peers.protocol import Mode
from toolcall.conformance import Case, ReadCall, Reading


class Api(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.status, self.body = 200, b""
        self.asked: list[dict[str, Any]] = []


class Handler(BaseHTTPRequestHandler):
    server: Api

    def do_POST(self) -> None:
        self.server.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(self.server.body)))
        self.end_headers()
        self.wfile.write(self.server.body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def api() -> Iterator[Api]:
    with Api() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def stream(*deltas: dict[str, Any], finish: str = "stop", end: str = "data: [DONE]\n\n") -> bytes:
    chunks: list[dict[str, Any]] = [{"choices": [{"delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks.append({"choices": [{"delta": {}, "finish_reason": finish}]})
    return ("".join(f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n" for chunk in chunks) + end).encode()


def call(index: int, name: str | None, arguments: str) -> dict[str, Any]:
    return {"index": index, "function": {"name": name, "arguments": arguments}}


def ask_for(api: Api, mode: Mode, case: Case | None = None) -> Any:
    return ask(api.server_port, 7, case or Case(id="c"), mode)


def test_a_stream_is_joined_as_clients_join_it(api: Api) -> None:
    api.body = b": keep-alive\n\n" + stream(
        {"role": "assistant", "reasoning_content": "h"},
        {"reasoning_content": "m", "content": None},
        {"content": "a\u2028b"},
        {"tool_calls": [call(0, "f", "")]},
        {"tool_calls": [call(0, None, '{"k":'), call(1, "g", "{}")]},
        {"tool_calls": [call(0, None, " 1}")]},
        finish="tool_calls",
    )

    assert ask_for(api, "streamed").reading == Reading(
        "hm", "a\u2028b", (ReadCall("f", '{"k": 1}'), ReadCall("g", "{}")), "tool_calls"
    )


def test_a_whole_answer_is_read(api: Api) -> None:
    message = {
        "content": None,
        "reasoning_content": "h",
        "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}],
    }
    api.body = json.dumps({"choices": [{"message": message, "finish_reason": "length"}]}).encode()

    assert ask_for(api, "whole").reading == Reading("h", "", (ReadCall("f", "{}"),), "length")


def test_a_refusal_is_an_error_with_its_message(api: Api) -> None:
    api.status, api.body = 400, b'{"message": "invalid name", "code": 400}'
    assert ask_for(api, "streamed").error == "HTTP 400: invalid name"
    api.body = b"not JSON"
    assert ask_for(api, "whole").error == "HTTP 400: not JSON"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (stream({"content": "a"}, end=""), "the stream ended without [DONE]"),
        (b'event: error\ndata: {"message": "parser failed"}\n\ndata: [DONE]\n\n', "in the stream: parser failed"),
    ],
)
def test_a_stream_that_fails_is_an_error(api: Api, body: bytes, why: str) -> None:
    api.body = body
    answer = ask_for(api, "streamed")
    assert (answer.reading, answer.error) == (None, why)


def test_nobody_listening_is_an_error() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        answer = ask(bound.getsockname()[1], 0, Case(id="c"), "whole")
    assert "refused" in (answer.error or "")


def test_the_request_is_that_of_the_case(api: Api) -> None:
    api.body = stream()
    tools = [{"type": "function", "function": {"name": "f"}}]
    ask_for(api, "streamed", Case(tools=tools, tool_choice="required", parallel_tool_calls=False, thinking=True))
    ask_for(api, "streamed", Case(tools=[], prompt_tail="<|assistant|>"))

    first, second = api.asked
    assert (first["tools"], first["tool_choice"], first["parallel_tool_calls"]) == (tools, "required", False)
    assert first["chat_template_kwargs"] == {"prompt_tail": "<|assistant|><think>", "enable_thinking": True}
    assert second["chat_template_kwargs"] == {"prompt_tail": "<|assistant|>", "enable_thinking": True}
    assert second.keys() == {"model", "messages", "stream", "chat_template_kwargs"}
