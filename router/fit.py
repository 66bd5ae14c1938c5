"""The prices in force, corrected by the requests that were served.

One owner: policy and router read `Fit.costs` for each decision, and the router tells the fit of each request that
ends. What the prices are corrected from, how fast and how far is in `docs/router.md`, Prices.
"""

import math
from collections.abc import Sequence

from msgspec.structs import replace

from router.costs import Costs
from router.factors import Factors
from router.observation import Observation

FITTED = (
    "step_ms",
    "prefill_token_us",
    "context_token_ns",
    "fetch_gb_s",
    "transfer_gb_s",
    "transfer_ms",
    "piece_us",
    "decode_step_ms",
    "decode_request_us",
)
"""The prices that are corrected."""

FEWEST = 16
"""Requests that a side's prices are corrected from at the least."""

_QUIET = 0.2
"""Most work of others beside a request whose prefill is learnt from, as a share of what it should take itself."""

_SHORT = 8
"""Answers of fewer tokens do not say how long a step takes."""

_NEWS = math.log(1.25)
"""A price in force that is closer than this to what was learnt stays: what is right is not stirred by noise."""

_SURE = 0.75
"""So does one that is closer than so many standard deviations of what was learnt."""


class Fit:
    """The prices in force.

    Args:
        costs: The starting prices.
    """

    def __init__(self, costs: Costs) -> None:
        self.start = costs
        self.costs = costs
        self.learnt = {"prefill": 0, "decode": 0}
        self._prefill, self._decode = _Side(5), _Side(2)

    def hosted(self, tokens: int) -> None:
        """Note that so many tokens of one prompt were seen in the host tier, so that there is one."""
        if tokens > self.costs.host_tokens:
            self.costs = replace(self.costs, host_tokens=tokens)

    def learn(self, seen: Observation) -> None:
        """Correct the prices by a request that was served."""
        self._learn_prefill(seen)
        if seen.running > 0.0 and seen.answer_tokens >= _SHORT:
            self._learn_decode(seen)

    def _learn_prefill(self, seen: Observation) -> None:
        if seen.moved_tokens is None:
            return
        amounts = (seen.prompt_tokens, seen.new_tokens, seen.host_tokens, seen.moved_tokens)
        # Below 0 the engine's books were opened anew meanwhile.
        if abs(seen.beside_ms) > _QUIET * sum(self.costs.first_token_parts(*amounts)):
            return
        self.learnt["prefill"] += 1
        if (factors := self._prefill.learn(self.start.first_token_parts(*amounts), seen.first_token_ms)) is None:
            return
        start, (fixed, token, context, fetch, move) = self.start, factors
        self.costs = replace(
            self.costs,
            step_ms=start.step_ms * fixed,
            prefill_token_us=start.prefill_token_us * token,
            context_token_ns=start.context_token_ns * context,
            fetch_gb_s=start.fetch_gb_s / fetch,
            transfer_gb_s=start.transfer_gb_s / move,
            transfer_ms=start.transfer_ms * fixed,
            piece_us=start.piece_us * move,
        )

    def _learn_decode(self, seen: Observation) -> None:
        self.learnt["decode"] += 1
        start = self.start
        parts = (start.decode_step_ms, max(0.0, seen.running - 1.0) * start.decode_request_us / 1e3)
        if (factors := self._decode.learn(parts, seen.answer_ms / (seen.answer_tokens - 1))) is None:
            return
        step, request = factors
        self.costs = replace(
            self.costs,
            decode_step_ms=start.decode_step_ms * step,
            decode_request_us=start.decode_request_us * request,
        )


class _Side:
    """The factors of one side's prices: as learnt, and as they are in force."""

    def __init__(self, parts: int) -> None:
        self._factors = Factors(parts)
        self._in_force = [0.0] * parts
        self._learnt = 0

    def learn(self, parts: Sequence[float], measured_ms: float) -> list[float] | None:
        """Take in a request; returns the factors where those in force are to change."""
        self._factors.learn(parts, measured_ms)
        self._learnt += 1
        news = [
            log if abs(log - old) > max(_NEWS, _SURE * self._factors.unsure(index)) else old
            for index, (log, old) in enumerate(zip(self._factors.logs, self._in_force, strict=True))
        ]
        if self._learnt < FEWEST or news == self._in_force:
            return None
        self._in_force = news
        return [math.exp(log) for log in news]
