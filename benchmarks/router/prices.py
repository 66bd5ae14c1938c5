"""What it is worth that prices correct themselves: starting prices that are wrong, with the fit and without."""

import math
import statistics
from collections.abc import Mapping, Sequence

from msgspec import structs

from benchmarks.router.cases import HOST_TOKENS, LARGE, SMALL, Make, cases, replay
from benchmarks.router.tables import BALANCE, REUSE, SPEED, TTFT_90, Shown, table
from router.costs import Costs
from router.fit import Fit
from router.placement import Outcome
from router.replay.report import Column, columns
from router.replay.trace import Trace
from router.router import Router
from router.sticky import Sticky
from router.ticket import Ticket

TITLE = "router prices"
ABOUT = (
    "Of each choice of sessions, runs with starting prices that are three times too high or too low, as they are and "
    "corrected from what is served. Expected: the time to first token by the prices in force over the one that came, "
    "of the requests that had their engine to themselves, median and 10th to 90th percentile. To be met: the median to "
    "a quarter, or better than with the starting prices."
)

_COMPUTE = ("step_ms", "prefill_token_us", "context_token_ns")
_FETCH, _TRANSFER = ("fetch_gb_s",), ("transfer_gb_s",)
_DECODE = ("decode_step_ms", "decode_request_us")
_PRICES: Mapping[str, tuple[str, ...]] = {
    "all": (*_COMPUTE, *_FETCH, *_TRANSFER, *_DECODE),
    "compute": _COMPUTE,
    "fetch": _FETCH,
    "transfer": _TRANSFER,
    "decode": _DECODE,
}

_QUIET_MS = 1.0
"""Most work of others beside a request whose expectation is looked at, ms."""

Found = Sequence[tuple[str, Sequence[Column], Mapping[str, list[float]]]]
"""Of each load its name, its columns, and what was expected over what came by variant."""


class _Watched(Router):
    """Notes what it expected of each request, over what came."""

    def __init__(self, prices: Costs | Fit, ratios: list[float]) -> None:
        super().__init__(Sticky(prices), prices)
        self._ratios = ratios

    def finish(
        self,
        request_id: str,
        outcome: Outcome,
        now_ms: float,
        *,
        answer_tokens: int = 0,
        cached_tokens: int | None = None,
    ) -> Ticket:
        ticket = super().finish(request_id, outcome, now_ms, answer_tokens=answer_tokens, cached_tokens=cached_tokens)
        if ticket.first_token_ms is not None and ticket.beside_ms < _QUIET_MS:
            self._ratios.append(ticket.expected_ms / (ticket.first_token_ms - ticket.placed_ms))
        return ticket


def wrong(costs: Costs, prices: Sequence[str], by: float) -> Costs:
    """Return prices of which some are too high by a factor; a bandwidth is too low then."""
    off = {price: getattr(costs, price) * (1.0 / by if price.endswith("gb_s") else by) for price in prices}
    return structs.replace(costs, **off)


def variants(ratios: dict[str, list[float]]) -> dict[str, Make]:
    """Return the starting prices that are tried, each as it is and corrected; what is expected goes to `ratios`."""
    made: dict[str, Make] = {}

    def add(name: str, prices: Sequence[str], by: float) -> None:
        made[name] = lambda costs, _seed: _Watched(wrong(costs, prices, by), ratios.setdefault(name, []))
        fitted = f"{name}, fitted"
        made[fitted] = lambda costs, _seed: _Watched(Fit(wrong(costs, prices, by)), ratios.setdefault(fitted, []))

    add("right", (), 1.0)
    for kind, prices in _PRICES.items():
        for by, said in ((3.0, "x 3"), (1.0 / 3.0, "x 1/3")):
            add(f"{kind} {said}", prices, by)
    return made


def measure(trace: Trace, seeds: Sequence[int]) -> Found:
    """Replay with every choice of starting prices."""
    found = []
    for case in (cases(trace, LARGE)[0], cases(trace, SMALL, HOST_TOKENS)[2]):
        ratios: dict[str, list[float]] = {}
        name = f"{case.name}{', host tier' if case.cluster.host_tokens else ''}"
        found.append((name, columns(replay(case, variants(ratios), seeds)), ratios))
    return found


def report(found: Found) -> str:
    """Write the table."""
    rows = [
        ((name, column.policy, _spread(ratios[column.policy])), column)
        for name, group, ratios in found
        for column in group
    ]
    moves, decode_moves = Shown("moves", "moves", 0, ranged=False), Shown("of decoder", "decode_moves", 0, ranged=False)
    shown = (REUSE, BALANCE, TTFT_90, SPEED, moves, decode_moves)
    return table(("load", "starting prices", "expected / came"), rows, shown)


def met(found: Found) -> bool:
    """Whether corrected prices expect the median request's time to a quarter, or at least better than they began."""
    pairs = [(ratios[f"{name}, fitted"], ratios[name]) for _, _, ratios in found for name in ratios if "," not in name]
    return all(_miss(fitted) < max(math.log(1.25), _miss(start)) for fitted, start in pairs)


def _miss(ratios: Sequence[float]) -> float:
    return abs(math.log(statistics.median(ratios)))


def _spread(ratios: Sequence[float]) -> str:
    ordered = sorted(ratios)
    low, high = ordered[len(ordered) // 10], ordered[len(ordered) * 9 // 10]
    return f"{statistics.median(ordered):.2f} ({low:.2f}-{high:.2f})"
