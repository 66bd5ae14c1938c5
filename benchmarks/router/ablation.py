"""What each term of the cost is worth: the policy without it."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from benchmarks.router.cases import HOST_TOKENS, LARGE, SMALL, Make, cases, replay
from benchmarks.router.tables import BALANCE, OF_POOLED, REUSE, SPEED, TTFT_90, Shown, table
from router.decision import Choice
from router.placement import NOTHING, Outcome, RouteRequest
from router.ranks import Rank
from router.replay.report import Column, columns
from router.replay.trace import Trace
from router.residents import Residents
from router.router import Router
from router.sticky import Sticky, Weights
from router.ticket import Ticket
from router.views import DecodeView, RankView

TITLE = "router ablation"
ABOUT = "The loads of `targets` and `host`; each row leaves out, or adds, one thing."

Found = Sequence[tuple[str, Sequence[Column]]]


class _AsIndexed(Sticky):
    """Takes what is cached now for what will be found when the request's turn comes."""

    def prefill(self, request: RouteRequest, views: Sequence[RankView], home: Rank | None, now_ms: float) -> Choice:
        seen = [view._replace(overlap=request.overlaps.get(view.rank, NOTHING)) for view in views]
        return super().prefill(request, seen, home, now_ms)


class _AnyDecoder(Sticky):
    """Does not know what decode engines have kept."""

    def decode(self, request: RouteRequest, views: Sequence[DecodeView], _home: Rank | None, now_ms: float) -> Choice:
        seen = [view._replace(kept_tokens=0, residents=Residents(0)) for view in views]
        return super().decode(request, seen, None, now_ms)


class _AsBooked(Router):
    """Never learns what the engines found cached in the end."""

    def finish(
        self,
        request_id: str,
        outcome: Outcome,
        now_ms: float,
        *,
        answer_tokens: int = 0,
        cached_tokens: int | None = None,  # noqa: ARG002 - what is left out.
    ) -> Ticket:
        return super().finish(request_id, outcome, now_ms, answer_tokens=answer_tokens)


def _weighted(**changed: Any) -> Make:
    return lambda costs, _seed: Router(Sticky(costs, replace(Weights(), **changed)), costs)


def _fading(half_life_s: float) -> Make:
    return lambda costs, _seed: Router(Sticky(costs), costs, half_life_s=half_life_s)


VARIANTS: dict[str, Make] = {
    "sticky": _weighted(),
    "no crowding": _weighted(horizon_turns=0.0),
    "crowding alike at home and elsewhere": _weighted(moved=1.0),
    "crowding for half a turn, 15 s": _weighted(horizon_turns=0.5, return_age_s=15.0),
    "no balance": _weighted(balance=0.0),
    "no imbalance": _weighted(imbalance=0.0),
    "neither of the two": _weighted(balance=0.0, imbalance=0.0),
    "no margin of staying": _weighted(stay=0.0),
    "waiting in full": _weighted(wait=1.0),
    "cached as the index has it": lambda costs, _seed: Router(_AsIndexed(costs), costs),
    "work not put right": lambda costs, _seed: _AsBooked(Sticky(costs), costs),
    "work fades in 5 min": _fading(300.0),
    "any decoder": lambda costs, _seed: Router(_AnyDecoder(costs), costs),
}
"""What is left out, and the router without it."""


def measure(trace: Trace, seeds: Sequence[int]) -> Found:
    """Replay every variant."""
    shapes = [*cases(trace, LARGE)[::2], *cases(trace, SMALL)[::2], *cases(trace, SMALL, HOST_TOKENS)[:1]]
    names = [f"{case.name}{', host tier' if case.cluster.host_tokens else ''}" for case in shapes]
    return [(name, columns(replay(case, VARIANTS, seeds))) for name, case in zip(names, shapes, strict=True)]


def report(found: Found) -> str:
    """Write the table."""
    rows = [((name, column.policy), column) for name, group in found for column in group]
    moves, decode_moves = Shown("moves", "moves", 0, ranged=False), Shown("of decoder", "decode_moves", 0, ranged=False)
    return table(("load", "policy"), rows, (REUSE, OF_POOLED, BALANCE, TTFT_90, SPEED, moves, decode_moves))


def met(_found: Found) -> bool:
    """Nothing is promised."""
    return True
