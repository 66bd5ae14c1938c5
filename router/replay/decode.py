"""A decode engine: requests share its steps, and a step takes longer the more of them there are."""

import heapq
from collections import deque
from typing import NamedTuple

from router.costs import Costs
from router.replay.cache import PrefixCache


class Answer(NamedTuple):
    """A request that is to be answered.

    Attributes:
        key: The caller's own.
        prompt_tokens: Length of its prompt.
        answer_tokens: Length of its answer.
    """

    key: int
    prompt_tokens: int
    answer_tokens: int


class DecodeEngine:
    """One decode engine.

    All running requests get a token a step, so one clock that counts steps serves them all: a request is finished when
    the clock is as many steps on as its answer has tokens. A request waits, first come first served, for a slot and for
    memory that takes its prompt and answer whole; one that is larger than the memory runs alone.

    Args:
        cache: What its memory holds of prompts.
        block_size: Tokens in a block.
        slots: Most requests in a step.
        costs: What a step costs.
    """

    def __init__(self, cache: PrefixCache, block_size: int, slots: int, costs: Costs) -> None:
        self.cache = cache
        self._block = block_size
        self._slots = slots
        self._costs = costs
        self._steps = 0.0
        self._at_ms = 0.0
        self._tokens = 0
        self._running: list[tuple[float, Answer]] = []
        self._waiting: deque[Answer] = deque()

    @property
    def running(self) -> int:
        """Requests in the step."""
        return len(self._running)

    def held_tokens(self, path: list[int]) -> int:
        """Return the tokens of a prompt that need not be moved here."""
        return self.cache.match(path) * self._block

    def admit(self, answer: Answer, path: list[int], now_ms: float) -> list[int]:
        """Take a request whose KV has arrived; returns the keys of the requests that start now."""
        self.cache.use(path, now_ms)
        self._advance(now_ms)
        self._waiting.append(answer)
        return self._start()

    def next_finish_ms(self) -> float | None:
        """Return when the next request finishes if nothing else happens, None when none is running."""
        if not self._running:
            return None
        left = max(0.0, self._running[0][0] - self._steps)
        return self._at_ms + left * self._costs.decode_ms(len(self._running))

    def finish(self, now_ms: float) -> tuple[list[int], list[int]]:
        """Return the keys of the requests that are finished by now, and of those that start in their stead."""
        self._advance(now_ms)
        done = []
        while self._running and self._running[0][0] <= self._steps + 1e-6:
            _, answer = heapq.heappop(self._running)
            self._tokens -= answer.prompt_tokens + answer.answer_tokens
            done.append(answer.key)
        return done, self._start()

    def _start(self) -> list[int]:
        started = []
        while self._waiting and self._fits(self._waiting[0]):
            answer = self._waiting.popleft()
            self._tokens += answer.prompt_tokens + answer.answer_tokens
            heapq.heappush(self._running, (self._steps + answer.answer_tokens, answer))
            started.append(answer.key)
        return started

    def _fits(self, answer: Answer) -> bool:
        if not self._running:
            return True
        tokens = self._tokens + answer.prompt_tokens + answer.answer_tokens
        return len(self._running) < self._slots and tokens <= self.cache.capacity * self._block

    def _advance(self, now_ms: float) -> None:
        if self._running:
            self._steps += (now_ms - self._at_ms) / self._costs.decode_ms(len(self._running))
        self._at_ms = now_ms
