"""Replays of a workload over ratios and numbers of sessions: the points of a Pareto curve."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final

import msgspec

from graphs.ratio.workload import lasting
from router.costs import Costs
from router.replay.baselines import router
from router.replay.cluster import Cluster, Load
from router.replay.simulate import Replay
from router.replay.trace import Trace
from router.replay.window import Window, window

STOP_S: Final = 1_500.0
"""Length of a replay. Sessions of coding agents last about as long, so that all their ages are there."""

WARM_S: Final = 500.0
"""What of it is not measured: memories fill, and the first prompts of all sessions are computed."""

_TELL_EVERY: Final = 64
_SPACING_S: Final = 0.5
"""Between the first sessions, where they are few enough."""

Tell = Callable[[float], None]
"""Takes how much of a replay is done, from 0 to 1."""


class Ratio(msgspec.Struct, frozen=True):
    """Prefill engines to decode engines.

    Attributes:
        prefill: How many of the one.
        decode: How many of the other.
    """

    prefill: int
    decode: int

    @property
    def name(self) -> str:
        """As people say it: `1:4`."""
        return f"{self.prefill}:{self.decode}"


class Point(msgspec.Struct, frozen=True):
    """One replay.

    Attributes:
        ratio: Its engines.
        gpus: GPUs of both sides.
        sessions: Sessions at once, sub-agents not counted; most of them wait for their client at any moment.
        measures: What was measured, requests in flight among it.
    """

    ratio: Ratio
    gpus: int
    sessions: int
    measures: Window


class Served(msgspec.Struct, frozen=True):
    """What a ratio serves at the speed that is asked for.

    Attributes:
        ratio: The engines.
        gpus: GPUs of both sides.
        sessions: Sessions at once; 0 where even the fewest that were tried are slower.
        more: Whether even the most that were tried are faster, so that there may be more.
        gpu_tokens_per_s: Tokens of answers a second and GPU then.
        in_flight: Requests under way then.
    """

    ratio: Ratio
    gpus: int
    sessions: int
    more: bool
    gpu_tokens_per_s: float
    in_flight: float


def at_ratio(cluster: Cluster, ratio: Ratio) -> Cluster:
    """Return a graph with as many engines, each prefill engine with as much of a host tier as it had."""
    host = cluster.host_tokens // cluster.prefill_engines * ratio.prefill
    return msgspec.structs.replace(
        cluster, prefill_engines=ratio.prefill, decode_engines=ratio.decode, host_tokens=host
    )


def point(
    trace: Trace,
    cluster: Cluster,
    costs: Costs,
    sessions: int,
    *,
    think_cap_s: float | None = None,
    seed: int = 0,
    stop_s: float = STOP_S,
    warm_s: float = WARM_S,
    tell: Tell = lambda _share: None,
) -> Point:
    """Hold so many sessions on a graph for a while, routed by our policy, and measure what they get.

    Args:
        trace: Where the sessions are from.
        cluster: The graph.
        costs: What things take in it.
        sessions: How many at once.
        think_cap_s: Longest wait between two turns; None keeps the recorded ones.
        seed: Of the order of sessions.
        stop_s: How long.
        warm_s: From when on it is measured.
        tell: Told how far it is.
    """
    # The router knows the host tier of this graph, whatever ratio the prices were made for.
    costs = msgspec.structs.replace(costs, host_tokens=cluster.host_tokens)
    held = lasting(trace, sessions, stop_s, costs.decode_ms(1) / 1e3, think_cap_s=think_cap_s, seed=seed)
    # All are there by the middle of what is not measured.
    spacing_s = min(_SPACING_S, warm_s / 2 / sessions)
    load = Load("held", spacing_s, think_cap_s, sessions, stop_s)

    def progress(served: int) -> None:
        if served % _TELL_EVERY == 0:
            tell(min(1.0, replay.now_ms / stop_s / 1e3))

    replay = Replay(held, router("sticky", costs, seed), cluster, load, costs, seed=seed, progress=progress)
    replay.run()
    found = window(replay.served, replay.unfinished, warm_s * 1e3, stop_s * 1e3, cluster.gpus)
    return Point(Ratio(cluster.prefill_engines, cluster.decode_engines), cluster.gpus, sessions, found)


def served(points: Sequence[Point], target_tokens_per_s: float) -> Served:
    """Return how many sessions of one ratio's points get a speed, between the two that enclose it.

    Args:
        points: Of one ratio, by growing numbers of sessions.
        target_tokens_per_s: The speed of the median request.
    """
    first, last = points[0], points[-1]

    def found(sessions: int, share: float, one: Point, other: Point, *, more: bool = False) -> Served:
        def between(name: str) -> float:
            low, high = getattr(one.measures, name), getattr(other.measures, name)
            return float(low + share * (high - low))

        rate, flight = between("gpu_tokens_per_s"), between("in_flight")
        return Served(first.ratio, first.gpus, sessions, more, rate, flight)

    if first.measures.user_tokens_per_s < target_tokens_per_s:
        return Served(first.ratio, first.gpus, 0, False, 0.0, 0.0)
    for one, other in pairwise(points):
        fast, slow = one.measures.user_tokens_per_s, other.measures.user_tokens_per_s
        if slow < target_tokens_per_s:
            share = (fast - target_tokens_per_s) / (fast - slow)
            return found(int(one.sessions + share * (other.sessions - one.sessions)), share, one, other)
    return found(last.sessions, 0.0, last, last, more=True)


def frontier(points: Sequence[Point]) -> list[Point]:
    """Return the points that no other one beats both for a user and for a GPU, from the fastest user on."""
    ordered = sorted(points, key=lambda each: (-each.measures.user_tokens_per_s, -each.measures.gpu_tokens_per_s))
    best: list[Point] = []
    for each in ordered:
        if not best or each.measures.gpu_tokens_per_s > best[-1].measures.gpu_tokens_per_s:
            best.append(each)
    return best


def sessions_to_try(most: float) -> tuple[int, ...]:
    """Return numbers of sessions from a light load to beyond what is thought to be the most."""
    shares = (0.15, 0.35, 0.6, 0.85, 1.1, 1.35)
    return tuple(dict.fromkeys(max(1, round(share * most)) for share in shares))
