"""What the client is asked to send and what it found, as the benchmark and the client's process exchange it."""

import msgspec


class Request(msgspec.Struct, frozen=True):
    """A turn of a session.

    Attributes:
        body: A file with the JSON body of a streamed chat completion.
        think_s: Wait after the answer before it.
    """

    body: str
    think_s: float


class Agent(msgspec.Struct, frozen=True):
    """A session: its name in headers, seconds until its first request, and its requests one after the other."""

    name: str
    arrival_s: float
    requests: list[Request]


class Kill(msgspec.Struct, frozen=True):
    """SIGKILL for a process once so many requests have been answered."""

    pid: int
    answered: int


class Job(msgspec.Struct, frozen=True):
    """Sessions for one frontend.

    Attributes:
        port: Where it listens, on 127.0.0.1.
        ranks: Prefill ranks whose metrics are awaited before anything is sent.
        agents: The sessions.
        kill: A worker that dies meanwhile.
    """

    port: int
    ranks: int
    agents: list[Agent]
    kill: Kill | None = None


class Attempt(msgspec.Struct, frozen=True):
    """A request that was sent and what came of it; one that fails is sent again. Times are s since the first.

    Attributes:
        agent: Index of the session.
        turn: Index of the turn.
        sent_s: When it was sent.
        ended_s: When the connection was over.
        ttft_ms: Time to the first token; None without one.
        error: What was wrong with the answer, None for a complete one.
        prompt_tokens: As the answer's usage says.
        cached_tokens: As the answer's usage says.
        rank: Its prefill rank, where the answer tells it.
        decoder: Its decode worker, where the answer tells it.
    """

    agent: int
    turn: int
    sent_s: float
    ended_s: float
    ttft_ms: float | None
    error: str | None
    prompt_tokens: int
    cached_tokens: int
    rank: int | None
    decoder: int | None


class Report(msgspec.Struct, frozen=True):
    """A job done.

    Attributes:
        attempts: In the order in which they were sent.
        computed: Prompt tokens that each prefill rank computed, by the ranks' own metrics.
        lost: Messages of these metrics that did not arrive.
        decisions: How many placements by side and reason, by the frontend's own metrics; empty where it has none.
        killed_s: When the worker was killed.
    """

    attempts: list[Attempt]
    computed: list[int]
    lost: int
    decisions: dict[str, dict[str, int]]
    killed_s: float | None
