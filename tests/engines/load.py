"""Conversations without an end, whose every request is noted: when it ended, and how."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from openai import APIStatusError, AsyncOpenAI

from tests.engines.miniature import Miniature
from tests.live.chat import NO_THINKING, user

TURNS = 6
"""Turns of a session, before another one begins: a tiny model's context is short."""


@dataclass
class Load:
    """A load of so many sessions.

    Attributes:
        graph: Where it goes.
        sessions: How many talk at once.
        served: When answers ended, on the monotonic clock, in s.
        failed: When requests failed, and with which status.
    """

    graph: Miniature
    sessions: int
    served: list[float] = field(default_factory=list)
    failed: list[tuple[float, int]] = field(default_factory=list)

    def during(self, script: Callable[[], None]) -> None:
        """Keep the load up while a script runs on a thread."""
        asyncio.run(self._run(script))

    async def _run(self, script: Callable[[], None]) -> None:
        stop = asyncio.Event()
        async with AsyncOpenAI(base_url=f"{self.graph.url}/v1", api_key="none", max_retries=0) as client:
            talking = [asyncio.create_task(self._talk(client, number, stop)) for number in range(self.sessions)]
            try:
                await asyncio.to_thread(script)
            finally:
                stop.set()
                await asyncio.gather(*talking)

    async def _talk(self, client: AsyncOpenAI, number: int, stop: asyncio.Event) -> None:
        history: list[Any] = []
        turn = 0
        while not stop.is_set():
            if turn % TURNS == 0:
                history = user(f"Session {number}.{turn}. {'Look at all of it again. ' * 40}")
            turn += 1
            try:
                answer = await client.chat.completions.create(
                    model=self.graph.model, messages=history, max_tokens=16, temperature=0, extra_body=NO_THINKING
                )
            except APIStatusError as error:
                self.failed.append((time.monotonic(), error.status_code))
                # A client that is refused at once would ask a thousand times a second.
                await asyncio.sleep(0.1)
                continue
            self.served.append(time.monotonic())
            said = answer.choices[0].message.content or ""
            history = [*history, {"role": "assistant", "content": said}, *user("Go on. " * 20)]
