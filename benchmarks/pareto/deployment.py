"""The published deployment, and a replay of it with some measurements."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

import msgspec

from graphs.commands import options
from graphs.commands.plan.ask import cluster, sides
from graphs.commands.plan.engines import Given, planned
from graphs.ratio.grid import Point, point
from graphs.ratio.measured import Measured
from graphs.ratio.prices import prices, slots
from graphs.ratio.workload import demand
from router.replay.trace import Trace

CONFIG: Final = Path(__file__).parents[2] / "configs" / "gb200-1p4d.yaml"
SESSIONS: Final = 66
"""C66: what the published point had."""

ITL_SESSIONS: Final = 64
"""What the published ITL had."""

READINGS: Final[Mapping[str, Measured]] = MappingProxyType(
    {
        "678 ms are 8,192 tokens": Measured(),
        "408 ms are 4,096, 678 are 8,192": Measured(step_ms=138.0),
        "678 ms are 4,096 tokens": Measured(chunk_tokens=4_096),
    }
)
"""What the published 408 and 678 ms of a prefill chunk may be of. In the second the line through both has 138 ms that
do not grow with tokens."""


class Run(msgspec.Struct, frozen=True):
    """What is replayed.

    Attributes:
        measured: The measurements.
        think_cap_s: Longest wait between two turns; None keeps the recorded ones.
        budget_tokens: Prefill budget of a rank and step.
        sessions: Sessions at once.
        seed: Of their order.
    """

    measured: Measured
    think_cap_s: float | None
    budget_tokens: int = 4_096
    sessions: int = SESSIONS
    seed: int = 0


def replay(trace: Trace, run: Run, stop_s: float, warm_s: float) -> Point:
    """Hold the sessions on the published deployment.

    Args:
        trace: Where they are from.
        run: What is replayed.
        stop_s: How long.
        warm_s: From when on it is measured.
    """
    engines = planned(options.load_config(options.DEFAULT_TARGET, CONFIG, ()), Given())
    prefill, decode = sides(engines)
    graph = cluster(prefill, decode, slots(decode.engine, decode.ladder))
    costs = prices(
        (prefill.engine, prefill.ladder),
        (decode.engine, decode.ladder),
        run.measured,
        demand(trace, run.think_cap_s).prompt_tokens,
        host_tokens=graph.host_tokens,
        # As the write-up's blocks moved.
        whole_blocks=True,
    )
    return point(
        trace,
        graph,
        msgspec.structs.replace(costs, budget_tokens=run.budget_tokens),
        run.sessions,
        think_cap_s=run.think_cap_s,
        seed=run.seed,
        stop_s=stop_s,
        warm_s=warm_s,
    )
