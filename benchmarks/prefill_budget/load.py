"""Long and short prompts in a mix that arrives at random, and what each request's engines said of its time."""

import asyncio
import random
from collections.abc import Sequence
from typing import Any

import msgspec
from openai import APIError, AsyncOpenAI

from benchmarks.frontend.processes import BenchmarkError
from benchmarks.prefill_budget.graph import Endpoint

LONG_WORDS = 1800
"""Of a long prompt; a word is about a token, and the model's context is 4,096."""

SHORT_WORDS = 60
LONG_SHARE = 0.25
ANSWER_TOKENS = 4

_WORDS = ("read", "the", "file", "then", "run", "all", "tests", "again", "and", "say", "what", "failed", "where")


class Arrival(msgspec.Struct, frozen=True):
    """One request.

    Attributes:
        at_s: When it is sent, from the start of the round.
        prompt: No two begin alike, so that nothing is cached.
        long: Whether the prompt is a long one.
    """

    at_s: float
    prompt: str
    long: bool


class Answered(msgspec.Struct, frozen=True):
    """What became of one request; all in ms.

    Attributes:
        long: Whether its prompt was long.
        queue_ms: Prefill's engine had it, and no step had taken it.
        compute_ms: From that step to prefill's end.
        ttft_ms: From its arrival at the frontend to the first token.
    """

    long: bool
    queue_ms: float
    compute_ms: float
    ttft_ms: float


def arrivals(count: int, rate: float, seed: int) -> list[Arrival]:
    """Return the requests of a round: Poisson arrivals, every fourth of them long on average.

    Args:
        count: How many.
        rate: Requests a second.
        seed: Chooses arrivals and words; the same seed gives the same round.
    """
    chosen = random.Random(seed)
    at_s = 0.0
    found = []
    for number in range(count):
        at_s += chosen.expovariate(rate)
        long = chosen.random() < LONG_SHARE
        words = chosen.choices(_WORDS, k=LONG_WORDS if long else SHORT_WORDS)
        found.append(Arrival(at_s, f"{seed}.{number} {' '.join(words)}", long))
    return found


async def ask(endpoint: Endpoint, requests: Sequence[Arrival]) -> list[Answered]:
    """Send each request when it is due, whatever became of those before, and return what became of all.

    Raises:
        BenchmarkError: If a request fails, or an answer does not say where its time went.
    """
    loop = asyncio.get_running_loop()
    begun = loop.time()
    async with AsyncOpenAI(base_url=f"{endpoint.url}/v1", api_key="none", max_retries=0, timeout=600) as client:

        async def send(request: Arrival) -> Answered:
            await asyncio.sleep(begun + request.at_s - loop.time())
            try:
                completion = await client.chat.completions.create(
                    model=endpoint.model,
                    messages=[{"role": "user", "content": request.prompt}],
                    max_tokens=ANSWER_TOKENS,
                    temperature=0,
                    extra_body={"ignore_eos": True, "nvext": {"extra_fields": ["timing"]}},
                )
            except APIError as error:
                raise BenchmarkError(f"a request failed: {error.message}") from error
            return answered(request, completion.model_extra or {})

        return await asyncio.gather(*map(send, requests))


def answered(request: Arrival, extra: dict[str, Any]) -> Answered:
    """Read ``nvext.timing`` of an answer.

    Raises:
        BenchmarkError: If it is not there, or lacks prefill's phases.
    """
    timing = extra.get("nvext", {}).get("timing", {})
    try:
        prefill = timing["prefill"]
        return Answered(request.long, prefill["admission_ms"], prefill["compute_ms"], timing["ttft_ms"])
    except KeyError as error:
        raise BenchmarkError(f"an answer's timing has no {error.args[0]}: {timing}") from error
