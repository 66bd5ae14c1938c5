"""The load client, a process of its own: ``python -m benchmarks.frontend.client JOB`` prints the results as JSON.

A stream costs it one append per read: what arrived is parsed when the phase is over, and until then only as far as the
first token.
"""

import asyncio
import os
import sys
import time
from pathlib import Path

import msgspec
import uvloop

from benchmarks.frontend.load import Job, Phase, PhaseResult, Timed
from benchmarks.frontend.sse import has_token, read_answer

_PHASE_LIMIT_S = 120
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_HEAD = (
    b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
    b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n"
)


class Stream(asyncio.Protocol):
    """One request on one connection."""

    def __init__(self) -> None:
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.pieces: list[bytes] = []
        self.first_token = float("nan")
        self._waiting = True

    def data_received(self, data: bytes) -> None:
        """Asyncio's: keep what arrived, and the time of the first token."""
        self.pieces.append(data)
        if self._waiting:
            now = time.perf_counter()
            if has_token(b"".join(self.pieces)):
                self._waiting = False
                self.first_token = now

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """Asyncio's: the response has ended."""
        if not self.ended.done():
            self.ended.set_result(None)


def cpu_seconds(pid: int) -> float:
    """Return the CPU time a process has used: ``utime`` and ``stime`` of proc(5)'s ``stat``."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS_PER_S


async def _send(port: int, body: bytes) -> tuple[float, bytes]:
    """Return the ms to the first token, and the response."""
    transport, stream = await asyncio.get_running_loop().create_connection(Stream, "127.0.0.1", port)
    try:
        begun = time.perf_counter()
        transport.write(_HEAD % len(body) + body)
        await stream.ended
        return (stream.first_token - begun) * 1e3, b"".join(stream.pieces)
    finally:
        transport.close()


def _read(files: list[str]) -> list[bytes]:
    return [Path(file).read_bytes() for file in files]


async def run_phase(port: int, pid: int, phase: Phase) -> PhaseResult:
    """Send a phase's requests and read the answers.

    Raises:
        TimeoutError: If it takes more than two minutes.
    """
    bodies = _read(phase.bodies)
    responses: dict[int, tuple[float, bytes]] = {}
    turns = iter(range(len(bodies)))

    async def send_all() -> None:
        for turn in turns:
            responses[turn] = await _send(port, bodies[turn])

    cpu_before, begun = cpu_seconds(pid), time.perf_counter()
    async with asyncio.timeout(_PHASE_LIMIT_S), asyncio.TaskGroup() as group:
        for _ in range(phase.concurrency):
            group.create_task(send_all())
    seconds, cpu = time.perf_counter() - begun, cpu_seconds(pid) - cpu_before
    timed = [Timed(responses[turn][0], read_answer(responses[turn][1])) for turn in range(len(bodies))]
    return PhaseResult(phase.name, seconds, cpu, timed)


async def _run(job: Job) -> list[PhaseResult]:
    return [await run_phase(job.port, job.pid, phase) for phase in job.phases]


def main() -> None:
    """Run the job in the file named on the command line."""
    job = msgspec.json.decode(Path(sys.argv[1]).read_bytes(), type=Job)
    sys.stdout.buffer.write(msgspec.json.encode(uvloop.run(_run(job))))


if __name__ == "__main__":
    main()
