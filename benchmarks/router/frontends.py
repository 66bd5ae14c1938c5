"""What several frontends over one fleet come to, beside one."""

from collections.abc import Sequence

from benchmarks.router.cases import LARGE, SMALL, Make, cases, replay
from benchmarks.router.tables import BALANCE, OF_POOLED, REUSE, SPEED, TTFT_90, table
from router.costs import Costs
from router.replay.frontends import Frontends
from router.replay.report import Column, columns
from router.replay.trace import Trace
from router.router import Router
from router.sticky import Sticky

TITLE = "router frontends"
ABOUT = (
    "The loads of `targets`. Requests go to the frontends in turn, or all of a session's to one of them (*sessions "
    "kept*); what they tell each other is 50 ms on its way, or they tell each other nothing (*apart*)."
)

LATE_MS = 50.0

Found = Sequence[tuple[str, Sequence[Column]]]


def _frontends(count: int, late_ms: float | None, *, sticky: bool = False) -> Make:
    def make(costs: Costs, _seed: int) -> Router:
        return Frontends(
            lambda tell: Router(Sticky(costs), costs, tell=tell), count=count, late_ms=late_ms, sticky=sticky
        )

    return make


ROUTERS: dict[str, Make] = {
    "one": lambda costs, _seed: Router(Sticky(costs), costs),
    "two": _frontends(2, LATE_MS),
    "two, sessions kept": _frontends(2, LATE_MS, sticky=True),
    "four": _frontends(4, LATE_MS),
    "two, apart": _frontends(2, None),
    "two, apart, sessions kept": _frontends(2, None, sticky=True),
}
"""How many frontends there are, and what they have of each other."""


def measure(trace: Trace, seeds: Sequence[int]) -> Found:
    """Replay every number of frontends."""
    shapes = [*cases(trace, LARGE)[::2], *cases(trace, SMALL)[::2]]
    return [(case.name, columns(replay(case, ROUTERS, seeds))) for case in shapes]


def report(found: Found) -> str:
    """Write the table."""
    rows = [((name, column.policy), column) for name, group in found for column in group]
    return table(("load", "frontends"), rows, (REUSE, OF_POOLED, BALANCE, TTFT_90, SPEED))


def met(_found: Found) -> bool:
    """Nothing is promised."""
    return True
