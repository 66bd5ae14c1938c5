"""What the client is asked to send and what it found, as the benchmark and the client's process exchange it."""

import msgspec

from benchmarks.frontend.sse import Answer


class Phase(msgspec.Struct, frozen=True):
    """Requests sent in order, a new one as soon as one has ended.

    Attributes:
        name: Key of the result.
        concurrency: Requests in flight.
        bodies: Files, each with the JSON body of a streamed chat completion.
    """

    name: str
    concurrency: int
    bodies: list[str]


class Job(msgspec.Struct, frozen=True):
    """Phases for one frontend, one after the other.

    Attributes:
        port: Where it listens, on 127.0.0.1.
        pid: Its process, whose CPU time is read around every phase.
        phases: What to send.
    """

    port: int
    pid: int
    phases: list[Phase]


class Timed(msgspec.Struct, frozen=True):
    """One request: ms from the first byte sent to the first event with a token, and the answer."""

    ttft_ms: float
    answer: Answer


class PhaseResult(msgspec.Struct, frozen=True):
    """One phase.

    Attributes:
        name: The phase's.
        seconds: From its first request to the end of its last answer.
        cpu_seconds: CPU time of the frontend's process, all threads, user and system.
        requests: In the order of the phase's bodies.
    """

    name: str
    seconds: float
    cpu_seconds: float
    requests: list[Timed]

    @property
    def completion_tokens(self) -> int:
        """Tokens of all answers."""
        return sum(request.answer.completion_tokens for request in self.requests)

    @property
    def error(self) -> str | None:
        """What was wrong with the first bad answer."""
        return next((request.answer.error for request in self.requests if request.answer.error), None)
