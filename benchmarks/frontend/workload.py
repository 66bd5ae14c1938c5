"""What is sent to a frontend: the phases of prompts and of streams."""

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.frontend import script
from benchmarks.frontend.corpus import Corpus, Message
from benchmarks.frontend.load import Phase

SIZES = {"1K": 1_000, "32K": 32_000, "146K": 146_000}
"""Lengths of first turns in tokens of the stand-in's tokenizer."""
NEW_TOKENS = 6_000
"""What a second turn adds."""
MOCKED = "mocked"
"""The mockers' model: one random token a chunk."""
STREAMS = {"text-1": MOCKED, "text-8": "text-8", "calls-1": "calls-1", "calls-8": "calls-8"}
"""Kind of stream and tokens a chunk, and the model that streams it."""
_MOCKED_TOKENS = 512
_PROMPT_OUTPUT = 4
_PROMPT_CONCURRENCY = 4
_STREAM_CONCURRENCY = 32


@dataclass(frozen=True)
class Amount:
    """How much is sent.

    Attributes:
        samples: Conversations at concurrency 1, for the time to first token.
        conversations: Per size, at concurrency 4, for requests/s.
        streams: Answers of about 500 tokens at concurrency 32, for output tokens/s.
    """

    samples: int
    conversations: dict[str, int]
    streams: int


FULL = Amount(8, {"1K": 96, "32K": 16, "146K": 8}, 128)
QUICK = Amount(2, {"1K": 24, "32K": 4, "146K": 4}, 32)


class Workload:
    """Writes the bodies of requests and returns the phases that send them.

    Args:
        corpus: Where texts come from.
        folder: Where bodies are written.
        seed: Other seeds give other texts.
    """

    def __init__(self, corpus: Corpus, folder: Path, seed: str) -> None:
        self._corpus = corpus
        self._folder = folder
        self._rng = random.Random(seed)
        self._written = 0

    def warm_up(self, models: list[str]) -> Phase:
        """Return a few short requests to each model, so that connections stand and code is loaded."""
        bodies = [self._write(model, self._question(), 16) for model in models for _ in range(8)]
        return Phase("warm-up", _PROMPT_CONCURRENCY, bodies)

    def first_tokens(self, size: str, samples: int) -> Phase:
        """Return conversations of two turns each, one request at a time."""
        turns = [turn for _ in range(samples) for turn in self._conversation(size)]
        return Phase(f"ttft/{size}", 1, turns)

    def prompts(self, size: str, conversations: int, concurrency: int = _PROMPT_CONCURRENCY) -> list[Phase]:
        """Return the first turns of some conversations, and then their second turns."""
        first, second = zip(*(self._conversation(size) for _ in range(conversations)), strict=True)
        return [
            Phase(f"prompts/{size}/first", concurrency, list(first)),
            Phase(f"prompts/{size}/second", concurrency, list(second)),
        ]

    def streams(self, stream: str, count: int) -> Phase:
        """Return requests with long answers; calls come with their tools."""
        tools = {"tools": script.TOOLS} if stream.startswith("calls") else {}
        model = STREAMS[stream]
        bodies = [self._write(model, self._question(), _MOCKED_TOKENS, **tools) for _ in range(count)]
        return Phase(f"streams/{stream}", _STREAM_CONCURRENCY, bodies)

    def _question(self) -> list[Message]:
        return [{"role": "user", "content": self._corpus.text(100, self._rng)}]

    def _conversation(self, size: str) -> tuple[str, str]:
        first = self._corpus.conversation(SIZES[size], self._rng)
        second = self._corpus.next_turn(first, NEW_TOKENS, self._rng)
        return self._write(MOCKED, first, _PROMPT_OUTPUT), self._write(MOCKED, second, _PROMPT_OUTPUT)

    def _write(self, model: str, messages: list[Message], tokens: int, **more: Any) -> str:
        self._written += 1
        body = {
            "model": model,
            "messages": messages,
            "max_tokens": tokens,
            "stream": True,
            "stream_options": {"include_usage": True},
            **more,
        }
        # A scripted answer has an end; the mocker's tokens are random.
        if model == MOCKED:
            body["ignore_eos"] = True
        path = self._folder / f"{self._written}.json"
        path.write_bytes(msgspec.json.encode(body))
        return str(path)
