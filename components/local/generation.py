"""One answer, token by token: language model, steering, grammar, sampler and the conditions that end it."""

import hashlib
import json
import random
from array import array
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from components.local import markers, sampler
from components.local.grammar import Matcher
from components.local.language import Language
from components.local.request import Request
from components.local.steering import Steering
from components.local.vocabulary import Part, Vocabulary

_STALE = 2.0**-8


@dataclass
class Chunk:
    """Tokens that travel together.

    Attributes:
        token_ids: The token that ended the answer is among them, as vLLM has it.
        log_probs: Natural logarithms of the model's own probabilities, one a token, if asked for: before grammar,
            temperature and cut-offs, as vLLM's `raw_logprobs`.
        top_logprobs: Dynamo's entries for the likeliest tokens, one list a token, if asked for.
        finish_reason: "stop", "length", or None when the answer goes on.
    """

    token_ids: list[int] = field(default_factory=list)
    log_probs: list[float] = field(default_factory=list)
    top_logprobs: list[list[dict[str, Any]]] = field(default_factory=list)
    finish_reason: str | None = None


class Generation:
    """Writes one answer. The same request and seed give the same tokens, in whatever chunks they are taken."""

    def __init__(
        self, request: Request, vocabulary: Vocabulary, language: Language, matcher: Matcher | None, seed: int
    ) -> None:
        self._request = request
        self._vocabulary = vocabulary
        self._language = language
        self._matcher = matcher
        self._rng = random.Random(_seed(request, seed))  # noqa: S311 - repeatable answers are the point
        self._steering = Steering(
            vocabulary,
            request.prompt,
            reasoning=self._starts_in_reasoning(),
            tools=_constrains_calls(request),
            rng=self._rng,
        )
        self._ends = vocabulary.end_ids | request.end_ids
        self._goes_on = np.ones(len(vocabulary.data), dtype=bool)
        self._goes_on[list(self._ends)] = False
        # Used words lose weight, so that neither greedy text nor a recursive schema goes round in circles.
        self._fresh = np.ones(len(vocabulary.data))
        self._last_two = (-1, request.prompt[-1] if request.prompt else vocabulary.id(markers.END_THINK))
        self._longest_stop = max(map(len, request.stop), default=0)
        self._tail = b""
        self.count = 0
        """Tokens written so far."""

    def _starts_in_reasoning(self) -> bool:
        if self._request.prompt[-1:] != [self._vocabulary.id(markers.THINK)]:
            return False
        # A grammar that cannot leave the reasoning at once does not describe any: bare JSON, for example.
        return self._matcher is None or bool(self._matcher.allowed()[self._vocabulary.id(markers.END_THINK)])

    def take(self, count: int) -> Chunk:
        """Write up to `count` more tokens, fewer when the answer ends."""
        chunk = Chunk()
        while chunk.finish_reason is None and len(chunk.token_ids) < count:
            token = self._next(chunk)
            chunk.token_ids.append(token)
            chunk.finish_reason = self._finish_reason(token)
        return chunk

    def _next(self, chunk: Chunk) -> int:
        model = self._language.weights(*self._last_two)
        model *= self._steering.factors()[self._vocabulary.parts]
        model *= self._fresh
        weights = model if self._matcher is None else model * self._matcher.allowed()
        if self._request.ignore_eos or self.count < self._request.min_tokens:
            without_end = weights * self._goes_on
            # A grammar that is complete leaves nothing but the end.
            weights = without_end if without_end.any() else weights
        token = sampler.choose(weights, self._request, self._rng)
        if self._request.top_logprobs is not None:
            chunk.log_probs.append(sampler.log_probability(model, token))
        if self._request.top_logprobs:
            top = sampler.alternatives(model, token, self._request.top_logprobs, self._vocabulary)
            chunk.top_logprobs.append(top)
        self._move_on(token)
        return token

    def _move_on(self, token: int) -> None:
        if self._matcher is not None:
            self._matcher.accept(token)
        self._steering.observe(token)
        if self._vocabulary.parts[token] <= Part.SIGN:
            self._fresh[token] = max(_STALE, self._fresh[token] / 2)
        self._last_two = (self._last_two[1], token)
        self.count += 1

    def _finish_reason(self, token: int) -> str | None:
        stopped = token in self._request.stop_ids or self._completes_stop(token)
        if token in self._ends or (stopped and self.count >= self._request.min_tokens):
            return "stop"
        return "length" if self.count >= self._request.max_tokens else None

    def _completes_stop(self, token: int) -> bool:
        if not self._longest_stop:
            return False
        self._tail += self._vocabulary.data[token]
        found = any(text in self._tail for text in self._request.stop)
        self._tail = self._tail[1 - self._longest_stop :] if self._longest_stop > 1 else b""
        return found


def _seed(request: Request, seed: int) -> int:
    if request.seed is not None:
        return request.seed
    digest = hashlib.blake2b(array("I", request.prompt).tobytes(), digest_size=8)
    return int.from_bytes(digest.digest(), "big") ^ seed


def _constrains_calls(request: Request) -> bool:
    tag = request.guided.get("structural_tag")
    return tag is not None and markers.TOOL_CALL in (tag if isinstance(tag, str) else json.dumps(tag))
