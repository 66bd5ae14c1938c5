"""Fit the replay on separate measurements, and predict the one published point of the Pareto curve."""

import math
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import Final

import msgspec

from benchmarks.pareto.deployment import ITL_SESSIONS, READINGS, Run, replay
from graphs.ratio.grid import Point
from graphs.ratio.measured import Measured
from graphs.ratio.workload import demand
from router.replay.trace import Trace

CAPS_S: Final[tuple[float, ...]] = (5.0, 10.0, 30.0, 300.0)
"""The write-up does not say how long its sessions waited between turns; public runs of such traces cap it at 300 s."""
_TRIES: Final = 8
_NEAR: Final = 0.01

Tell = Callable[[str], None]


class Prediction(msgspec.Struct, frozen=True):
    """The published point under one reading of the prefill chunk and one cap of the waits.

    Attributes:
        reading: What the chunk is taken to be.
        think_cap_s: Longest wait between two turns.
        think_s: Mean wait then.
        itl_requests: Requests in a decoder's step at 64 sessions, where the ITL was fitted.
        points: C66 with the budget of 4,096 tokens, one for each order of sessions.
        before: The same with 8,192 tokens.
    """

    reading: str
    think_cap_s: float
    think_s: float
    itl_requests: float
    points: tuple[Point, ...]
    before: tuple[Point, ...]

    def of(self, name: str) -> list[float]:
        """A figure in all orders of sessions, from the least."""
        return sorted(float(getattr(each.measures, name)) for each in self.points)

    @property
    def wait_ms(self) -> tuple[float, float]:
        """Mean wait in prefill's queue with 8,192 tokens and with 4,096."""
        means = [median(each.measures.mean_wait_ms for each in some) for some in (self.before, self.points)]
        return means[0], means[1]


def predictions(trace: Trace, seeds: Sequence[int], stop_s: float, warm_s: float, tell: Tell) -> Iterator[Prediction]:
    """Predict the point under every reading and cap.

    Args:
        trace: Recorded sessions.
        seeds: Orders of them.
        stop_s: Length of a replay.
        warm_s: From when on it is measured.
        tell: Told what runs.
    """
    for reading, measured in READINGS.items():
        for cap in CAPS_S:
            tell(f"{reading}, waits of at most {cap:g} s")
            fitted, decoding = fit(trace, Run(measured, cap, sessions=ITL_SESSIONS), stop_s, warm_s)
            base = Run(fitted, cap)
            points, before = (
                tuple(
                    replay(trace, msgspec.structs.replace(base, seed=seed, budget_tokens=budget), stop_s, warm_s)
                    for seed in seeds
                )
                for budget in (4_096, 8_192)
            )
            yield Prediction(reading, cap, demand(trace, cap).think_s, decoding / 4, points, before)


def fit(trace: Trace, run: Run, stop_s: float, warm_s: float) -> tuple[Measured, float]:
    """Choose the decode step's one factor so that the replay at 64 sessions has the published ITL.

    Returns:
        The measurements with that factor, and the requests that decode at a moment then.
    """
    measured, wanted = run.measured, Measured().itl_ms
    nearest, best, decoding = math.inf, measured, 0.0
    for _ in range(_TRIES):
        found = replay(trace, msgspec.structs.replace(run, measured=measured), stop_s, warm_s).measures
        missed = abs(found.itl_ms[0] / wanted - 1)
        if missed < nearest:
            nearest, best, decoding = missed, measured, found.decoding
        if missed < _NEAR:
            break
        # A faster step leaves fewer requests in it, which makes it faster still: so by less than all of the way.
        factor = (wanted / found.itl_ms[0]) ** 0.6
        measured = msgspec.structs.replace(measured, itl_ms=measured.itl_ms * factor)
    return best, decoding


def sensitivities(
    trace: Trace, measured: Measured, think_cap_s: float, stop_s: float, warm_s: float
) -> Iterator[tuple[str, Point]]:
    """Replay C66 with each measurement a fifth larger; the first is as it is.

    Args:
        trace: Recorded sessions.
        measured: The fitted measurements.
        think_cap_s: Longest wait between two turns.
        stop_s: Length of a replay.
        warm_s: From when on it is measured.
    """
    yield "as fitted", replay(trace, Run(measured, think_cap_s), stop_s, warm_s)
    for name in ("chunk_ms", "step_ms", "itl_ms", "piece_us", "transfer_gb_s", "fetch_gb_s"):
        larger = msgspec.structs.replace(measured, **{name: getattr(measured, name) * 1.2})
        yield name.replace("_", "-"), replay(trace, Run(larger, think_cap_s), stop_s, warm_s)
    yield "longest wait", replay(trace, Run(measured, think_cap_s * 1.2), stop_s, warm_s)
