"""The load client, against a server of a few lines."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from benchmarks.router.live.client import Client, decisions, placed
from benchmarks.router.live.job import Agent, Job, Kill, Request

ANSWER = (
    b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n"
    b'data: {"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}],'
    b'"nvext":{"worker_id":{"prefill_worker_id":3,"prefill_dp_rank":5,"decode_worker_id":71}}}\n\n'
    b'data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":1,'
    b'"prompt_tokens_details":{"cached_tokens":4}}}\n\ndata: [DONE]\n\n'
)


class Endpoint:
    """Refuses the second request and cuts off the third."""

    def __init__(self) -> None:
        self.port = 0
        self.seen: list[tuple[str, bytes]] = []

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        fields = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if line)
        assert fields["x-dynamo-session-id"] == fields["x-dynamo-meta-session-id"]
        self.seen.append((fields["x-dynamo-session-id"], await reader.readexactly(int(fields["Content-Length"]))))
        number = len(self.seen)
        writer.write(b"HTTP/1.1 503 No\r\n\r\n" if number == 2 else ANSWER[:160] if number == 3 else ANSWER)
        writer.close()


@pytest.fixture
async def endpoint() -> AsyncIterator[Endpoint]:
    endpoint = Endpoint()
    server = await asyncio.start_server(endpoint.answer, "127.0.0.1", 0)
    endpoint.port = server.sockets[0].getsockname()[1]
    async with server:
        yield endpoint


def agent(folder: Path, name: str, *bodies: bytes) -> Agent:
    asked = []
    for number, body in enumerate(bodies):
        file = folder / f"{name}-{number}"
        file.write_bytes(body)
        asked.append(Request(str(file), 0.0))
    return Agent(name, 0.0, asked)


async def test_turns_that_fail_are_counted_and_sent_again(
    endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmarks.router.live.client._RETRY_S", 0.0)
    client = Client(Job(endpoint.port, 1, [agent(tmp_path, "s", b"one", b"two")]))

    await client.run()

    assert endpoint.seen == [("s", body) for body in (b"one", b"two", b"two", b"two")]
    errors = [(attempt.error or "answered").split(":")[0] for attempt in client.attempts]
    assert errors == ["answered", "status 503", "cut off", "answered"]
    last = client.attempts[-1]
    assert (last.turn, last.prompt_tokens, last.cached_tokens, last.rank, last.decoder) == (1, 9, 4, 5, 71)
    assert last.ttft_ms is not None
    assert last.ttft_ms > 0
    assert client.attempts[1].ttft_ms is None


async def test_a_worker_dies_when_so_many_are_answered(endpoint: Endpoint, tmp_path: Path) -> None:
    victim = await asyncio.create_subprocess_exec(sys.executable, "-c", "input()", stdin=asyncio.subprocess.PIPE)
    client = Client(Job(endpoint.port, 1, [agent(tmp_path, "s", b"one")], Kill(victim.pid, 1)))

    await client.run()

    assert await victim.wait() == -signal.SIGKILL
    assert client.killed_s is not None
    assert client.killed_s >= client.attempts[0].ended_s


def test_a_place_is_read_where_the_answer_names_it() -> None:
    assert placed(ANSWER, b"prefill_dp_rank") == 5
    assert placed(b'data: {"choices":[]}', b"prefill_dp_rank") is None


def test_decisions_are_read_from_our_metrics_and_of_others_there_are_none() -> None:
    name = "dynamo_glm_router_decisions_total"
    text = (
        f'# TYPE {name} counter\n{name}{{model="m",reason="home",side="prefill"}} 30\n'
        f'{name}{{side="prefill",reason="moved-wait",model="m"}} 2\n{name}{{side="decode",reason="new"}} 1.0\n'
    )

    assert decisions(text) == {"prefill": {"home": 30, "moved-wait": 2}, "decode": {"new": 1}}
    assert decisions("dynamo_frontend_requests_total 3\n") == {}
