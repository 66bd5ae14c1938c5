import json
from typing import Any

import pytest

from benchmarks.frontend.sse import has_token, read_answer

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
USAGE = {"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 6}}


def frame(text: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(text), text)


def event(value: dict[str, Any]) -> bytes:
    return frame(b"data: " + json.dumps(value).encode() + b"\n\n")


def delta(finish: str | None = None, **delta: Any) -> bytes:
    return event({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


def call(index: int, arguments: str, name: str | None = None) -> dict[str, Any]:
    return {"index": index, "function": {"name": name, "arguments": arguments}}


END = event({"choices": [], "usage": USAGE}) + frame(b"data: [DONE]\n\n") + b"0\r\n\r\n"


def test_tokens_are_counted_from_usage_and_characters_from_the_deltas() -> None:
    answer = read_answer(HEAD + delta(role="assistant", content="ab") + delta(finish="stop", content="c\n\n") + END)
    assert (answer.error, answer.prompt_tokens, answer.completion_tokens, answer.cached_tokens) == (None, 9, 4, 6)
    assert (answer.characters, answer.chunks) == (5, 3)


def test_calls_are_counted_by_their_index() -> None:
    first = delta(tool_calls=[call(0, "", name="f"), call(1, "{", name="g")])
    answer = read_answer(HEAD + first + delta(finish="tool_calls", tool_calls=[call(1, "}")]) + END)
    assert answer.calls == 2
    assert answer.characters == 4


@pytest.mark.parametrize(
    "body",
    [
        delta(content="a") + END,
        delta(finish="stop", content="a"),
        delta(finish="stop", content="a") + event({"choices": [], "usage": USAGE}),
    ],
    ids=["no finish reason", "no usage", "no end"],
)
def test_an_answer_that_is_cut_off_is_an_error(body: bytes) -> None:
    assert (read_answer(HEAD + body).error or "").startswith("cut off")


def test_a_refusal_is_an_error_with_its_text() -> None:
    raw = b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 4\r\n\r\nbusy"
    assert read_answer(raw).error == "status 503: busy"


def test_nothing_at_all_is_an_error() -> None:
    assert read_answer(b"").error is not None


@pytest.mark.parametrize("said", [{"content": "a"}, {"reasoning_content": "a"}, {"tool_calls": [call(0, "", "f")]}])
def test_a_token_is_seen_wherever_it_stands(said: dict[str, Any]) -> None:
    assert has_token(HEAD + delta(**said))


def test_a_role_alone_is_no_token() -> None:
    assert not has_token(HEAD + delta(role="assistant", content=""))


def test_a_token_is_seen_once_its_event_is_whole() -> None:
    whole = HEAD + delta(content="a\n")
    seen = [has_token(whole[:size]) for size in range(len(whole) + 1)]
    assert seen[-1]
    assert seen == sorted(seen)
    assert not any(seen[: len(HEAD) + 20])
