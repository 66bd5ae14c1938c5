"""The load client, a process of its own: ``python -m benchmarks.router.live.client JOB`` prints the report as JSON.

Sessions are closed loops: the next turn comes its wait after the answer before it, and a turn that fails is sent again
after half a second, as clients of agents do.
"""

import asyncio
import os
import re
import signal
import sys
import time
from pathlib import Path

import msgspec
import uvloop

from benchmarks.frontend.client import Stream
from benchmarks.frontend.sse import Answer, read_answer
from benchmarks.router.live.job import Agent, Attempt, Job, Report
from benchmarks.router.live.meter import Meter
from benchmarks.router.live.reading import between

_RETRY_S = 0.5
_ANSWER_LIMIT_S, _LIMIT_S = 60, 240
_HEAD = (
    "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
    "x-dynamo-session-id: {name}\r\nx-dynamo-meta-session-id: {name}\r\n"
    "Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
)
_METRICS = b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
_DECIDED = re.compile(r"^dynamo_glm_router_decisions_total\{(.*)\} (\S+)$", re.MULTILINE)
_LABEL = re.compile(r'(\w+)="([^"]*)"')


class Client:
    """Sends the sessions of a job.

    Args:
        job: What to send.
    """

    def __init__(self, job: Job) -> None:
        self._job = job
        self._bodies = [[Path(request.body).read_bytes() for request in agent.requests] for agent in job.agents]
        self._begun = 0.0
        self._answered = 0
        self.attempts: list[Attempt] = []
        self.killed_s: float | None = None

    async def run(self) -> None:
        """Send all sessions.

        Raises:
            TimeoutError: If that takes more than four minutes.
        """
        self._begun = time.perf_counter()
        async with asyncio.timeout(_LIMIT_S), asyncio.TaskGroup() as group:
            for number, agent in enumerate(self._job.agents):
                group.create_task(self._talk(number, agent))

    async def _talk(self, number: int, agent: Agent) -> None:
        await asyncio.sleep(agent.arrival_s)
        for turn, request in enumerate(agent.requests):
            await asyncio.sleep(request.think_s)
            answered = False
            while not answered:
                answered = await self._attempt(number, turn)
                if not answered:
                    await asyncio.sleep(_RETRY_S)
            self._answered += 1
            self._kill_if_due()

    async def _attempt(self, number: int, turn: int) -> bool:
        """Send a request and tell whether it was answered."""
        body = self._bodies[number][turn]
        head = _HEAD.format(name=self._job.agents[number].name, length=len(body)).encode()
        sent_s, ttft_ms, raw = self._now_s(), None, b""
        try:
            async with asyncio.timeout(_ANSWER_LIMIT_S):
                first_s, raw = await exchange(self._job.port, head + body)
            ttft_ms = None if first_s is None else (first_s - self._begun - sent_s) * 1e3
            answer = read_answer(raw)
        except (OSError, TimeoutError) as error:
            answer = Answer(error=f"{type(error).__name__}: {error}")
        self.attempts.append(
            Attempt(
                number,
                turn,
                sent_s,
                self._now_s(),
                ttft_ms,
                answer.error,
                answer.prompt_tokens,
                answer.cached_tokens,
                placed(raw, b"prefill_dp_rank"),
                placed(raw, b"decode_worker_id"),
            )
        )
        return answer.error is None

    def _kill_if_due(self) -> None:
        kill = self._job.kill
        if kill is not None and self.killed_s is None and self._answered >= kill.answered:
            os.kill(kill.pid, signal.SIGKILL)
            self.killed_s = self._now_s()

    def _now_s(self) -> float:
        return time.perf_counter() - self._begun


async def exchange(port: int, request: bytes) -> tuple[float | None, bytes]:
    """Send a request; the time of the first token on `time.perf_counter`, None without one, and the whole response."""
    transport, stream = await asyncio.get_running_loop().create_connection(Stream, "127.0.0.1", port)
    try:
        transport.write(request)
        await stream.ended
        # Not a number where none has come.
        first_s = stream.first_token if stream.first_token > 0 else None
        return first_s, b"".join(stream.pieces)
    finally:
        transport.close()


def placed(raw: bytes, name: bytes) -> int | None:
    """Return a number of `nvext.worker_id` in a response, None where it is not told."""
    found = re.search(rb'"%s":(\d+)' % name, raw)
    return int(found[1]) if found else None


def decisions(metrics: str) -> dict[str, dict[str, int]]:
    """Read from our frontend's metrics why it placed requests as it did: how many by side and reason; else nothing."""
    counts: dict[str, dict[str, int]] = {}
    for labels, count in _DECIDED.findall(metrics):
        label = dict(_LABEL.findall(labels))
        reasons = counts.setdefault(label["side"], {})
        reasons[label["reason"]] = reasons.get(label["reason"], 0) + int(float(count))
    return counts


async def _run(job: Job) -> Report:
    client = Client(job)
    meter = Meter()
    try:
        begin = await meter.read(job.ranks)
        await client.run()
        end = await meter.read(job.ranks)
    finally:
        await meter.close()
    metered = [between(*readings) for readings in zip(begin, end, strict=True)]
    _, metrics = await exchange(job.port, _METRICS)
    attempts = sorted(client.attempts, key=lambda attempt: attempt.sent_s)
    computed, lost = [tokens for tokens, _ in metered], sum(lost for _, lost in metered)
    return Report(attempts, computed, lost, decisions(metrics.decode(errors="replace")), client.killed_s)


def main() -> None:
    """Run the job in the file named on the command line."""
    job = msgspec.json.decode(Path(sys.argv[1]).read_bytes(), type=Job)
    sys.stdout.buffer.write(msgspec.json.encode(uvloop.run(_run(job))))


if __name__ == "__main__":
    main()
