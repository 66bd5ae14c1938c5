import asyncio
import os
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from benchmarks.frontend.client import cpu_seconds, run_phase
from benchmarks.frontend.load import Phase

HEAD = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n"
ROLE = b'data: {"choices":[{"delta":{"role":"assistant","content":""}}]}\n\n'
TOKEN = b'data: {"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}\n\n'
END = b'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1}}\n\ndata: [DONE]\n\n'
PAUSE_S = 0.05


class Endpoint:
    """Answers with a role at once, a token later, and the end later still; refuses a body that says so."""

    def __init__(self) -> None:
        self.port = 0
        self.bodies: list[bytes] = []
        self.most = 0
        self._now = 0

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        size = int(head.split(b"Content-Length: ")[1].split(b"\r\n")[0])
        self.bodies.append(await reader.readexactly(size))
        self._now += 1
        self.most = max(self.most, self._now)
        if self.bodies[-1] == b"refuse":
            writer.write(b"HTTP/1.1 500 Oh\r\n\r\n")
        else:
            for piece in (HEAD + ROLE, TOKEN, END):
                writer.write(piece)
                await asyncio.sleep(PAUSE_S)
        self._now -= 1
        writer.close()


@pytest.fixture
async def endpoint() -> AsyncIterator[Endpoint]:
    endpoint = Endpoint()
    server = await asyncio.start_server(endpoint.answer, "127.0.0.1", 0)
    endpoint.port = server.sockets[0].getsockname()[1]
    async with server:
        yield endpoint


def phase(folder: Path, bodies: list[bytes], concurrency: int) -> Phase:
    files = [folder / f"{index}.json" for index in range(len(bodies))]
    for file, body in zip(files, bodies, strict=True):
        file.write_bytes(body)
    return Phase("p", concurrency, [str(file) for file in files])


async def test_time_to_first_token_ends_at_the_first_token_and_not_at_the_role(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    result = await run_phase(endpoint.port, os.getpid(), phase(tmp_path, [b"a"], 1))
    (request,) = result.requests
    assert PAUSE_S * 1e3 <= request.ttft_ms < result.seconds * 1e3
    assert result.error is None
    assert result.completion_tokens == 1


async def test_requests_are_sent_in_order_and_no_more_at_once_than_asked_for(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    bodies = [b"%d" % index for index in range(6)]
    result = await run_phase(endpoint.port, os.getpid(), phase(tmp_path, bodies, 2))
    assert endpoint.most == 2
    assert sorted(endpoint.bodies) == bodies
    assert len(result.requests) == 6


async def test_a_refusal_is_reported(endpoint: Endpoint, tmp_path: Path) -> None:
    result = await run_phase(endpoint.port, os.getpid(), phase(tmp_path, [b"a", b"refuse"], 1))
    assert result.error == "status 500: "


def test_cpu_time_is_that_of_the_process() -> None:
    before, spent = cpu_seconds(os.getpid()), time.process_time()
    while time.process_time() - spent < 0.1:
        pass
    assert 0.05 < cpu_seconds(os.getpid()) - before < 0.5
