"""A streamed chat completion, read from the bytes of its HTTP response."""

from collections.abc import Iterator
from typing import Any

import msgspec

_END_OF_HEAD = b"\r\n\r\n"


class Answer(msgspec.Struct, frozen=True):
    """What a whole response said.

    Attributes:
        error: What is wrong with it, None for a complete answer.
        prompt_tokens: As the endpoint's usage says; so are the other counts of tokens.
        characters: Length of reasoning, content and arguments together.
        calls: Number of tool calls.
        chunks: Number of events, the one with usage among them.
    """

    error: str | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    characters: int = 0
    calls: int = 0
    chunks: int = 0


def has_token(raw: bytes) -> bool:
    """Tell whether what has arrived of a response holds an event with model output."""
    _, body = _parse(raw)
    return any(_texts(delta) for event in _events(body) for delta in _deltas(event))


def read_answer(raw: bytes) -> Answer:
    """Return what a response said, from its first byte to its last."""
    status, body = _parse(raw)
    if status != b"200":
        return Answer(error=f"status {status.decode()}: {body[:300].decode(errors='replace')}")
    events = list(_events(body))
    finished = any(choice.get("finish_reason") for event in events for choice in event.get("choices") or ())
    usage = next((event["usage"] for event in reversed(events) if event.get("usage")), None)
    if not finished or usage is None or b"data: [DONE]" not in body:
        return Answer(error=f"cut off: {body[-300:].decode(errors='replace')}")
    texts = [text for event in events for delta in _deltas(event) for text in _texts(delta)]
    return Answer(
        prompt_tokens=usage["prompt_tokens"],
        completion_tokens=usage["completion_tokens"],
        cached_tokens=(usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0,
        characters=sum(map(len, texts)),
        calls=len({call["index"] for event in events for delta in _deltas(event) for call in _calls(delta)}),
        chunks=len(events),
    )


def _parse(raw: bytes) -> tuple[bytes, bytes]:
    """Return status and body, as far as they have arrived."""
    head, _, rest = raw.partition(_END_OF_HEAD)
    status = head.split(b" ", 2)[1] if head.count(b" ") > 1 else b""
    return status, _unchunked(rest) if b"transfer-encoding: chunked" in head.lower() else rest


def _unchunked(rest: bytes) -> bytes:
    body, at = [], 0
    while (end := rest.find(b"\r\n", at)) >= 0:
        size = int(rest[at:end], 16)
        body.append(rest[end + 2 : end + 2 + size])
        at = end + 4 + size
    return b"".join(body)


def _events(body: bytes) -> Iterator[dict[str, Any]]:
    for block in body.split(b"\n\n")[:-1]:
        if block.startswith(b"data: {"):
            yield msgspec.json.decode(block[6:])


def _deltas(event: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for choice in event.get("choices") or ():
        yield choice.get("delta") or {}


def _calls(delta: dict[str, Any]) -> list[dict[str, Any]]:
    return delta.get("tool_calls") or []


def _texts(delta: dict[str, Any]) -> list[str]:
    functions = [call.get("function") or {} for call in _calls(delta)]
    texts = [delta.get("reasoning_content"), delta.get("content")]
    texts += [function.get(part) for function in functions for part in ("name", "arguments")]
    return [text for text in texts if text]
