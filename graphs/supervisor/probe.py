"""Seeing that a process is ready, by asking it."""

import asyncio
from typing import Any, assert_never
from urllib.parse import urlsplit

import msgspec

from graphs.process import ChatReady, HttpReady, PortReady, Ready, Started

_PAUSE_S = 0.03
_OK = 200


async def until_ready(ready: Ready, limit_s: float) -> str | None:
    """Ask until the answer is yes: None. Or until `limit_s` has passed: why the last answer was no."""
    why = "it did not answer"
    try:
        async with asyncio.timeout(limit_s):
            while (answer := await probe(ready)) is not None:
                why = answer
                await asyncio.sleep(_PAUSE_S)
    except TimeoutError:
        return why
    return None


async def probe(ready: Ready) -> str | None:
    """Ask once: None is yes, text says what is missing."""
    match ready:
        case Started():
            return None
        case PortReady(host, port):
            return await _port(host, port)
        case HttpReady(url):
            return await _ask("GET", url)
        case ChatReady(url, model):
            return await _model(url, model) or await _chat(url, model)
        case _:
            assert_never(ready)


async def _port(host: str, port: int) -> str | None:
    try:
        _, writer = await asyncio.open_connection(host, port)
    except OSError as error:
        return f"{host}:{port} refuses connections: {error}"
    writer.close()
    return None


async def _ask(method: str, url: str, body: bytes | None = None) -> str | None:
    try:
        status, answer = await request(method, url, body)
    except (OSError, ValueError) as error:
        return f"{method} {url} failed: {error}"
    said = " ".join(answer[:200].decode(errors="replace").split())
    return None if status == _OK else f"{method} {url} answered {status} {said}".rstrip()


async def _model(url: str, model: str) -> str | None:
    try:
        _, answer = await request("GET", f"{url}/v1/models")
        listed: Any = msgspec.json.decode(answer)
        names = [entry["id"] for entry in listed["data"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        return f"GET {url}/v1/models failed: {error}"
    return None if model in names else f"{url}/v1/models does not list {model}: {', '.join(names) or 'it is empty'}"


async def _chat(url: str, model: str) -> str | None:
    body = {"model": model, "messages": [{"role": "user", "content": "ready?"}], "max_tokens": 1}
    return await _ask("POST", f"{url}/v1/chat/completions", msgspec.json.encode(body))


async def request(method: str, url: str, body: bytes | None = None) -> tuple[int, bytes]:
    """One HTTP request: the status and the body.

    HTTP/1.0, so the server neither sends in chunks nor keeps the connection.

    Raises:
        OSError: There is no connection.
        ValueError: What came is not HTTP.
    """
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port or 80)
    try:
        head = [f"{method} {parts.path or '/'} HTTP/1.0", f"Host: {parts.netloc}", "Connection: close"]
        if body is not None:
            head += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
        writer.write("\r\n".join([*head, "", ""]).encode() + (body or b""))
        answer = await reader.read(-1)
    finally:
        writer.close()
    top, _, content = answer.partition(b"\r\n\r\n")
    try:
        return int(top.split(b" ", 2)[1]), content
    except (IndexError, ValueError):
        raise ValueError(f"not an HTTP answer: {answer[:80]!r}") from None
