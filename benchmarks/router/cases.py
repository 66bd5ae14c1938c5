"""What is replayed: a load on a graph, through a router."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from benchmarks.replay.loads import fitting, pressure, shaken
from router.costs import KV_TOKEN_BYTES, Costs
from router.replay.baselines import router
from router.replay.cluster import Cluster, Load
from router.replay.report import Run, rank_tokens, steady
from router.replay.select import sample, truncate
from router.replay.simulate import Replay
from router.replay.trace import Trace
from router.router import Router

LARGE, SMALL = 768_000, 256_000
"""Tokens of KV on a prefill rank: GLM-5.3 on GB200 and on a GPU of half its memory, about."""

HOST_TOKENS = 512 * 2**30 // KV_TOKEN_BYTES
"""Tokens of KV in 512 GiB."""

_SESSIONS, _TURNS = 64, 30

Make = Callable[[Costs, int], Router]
"""Makes a router for one replay, from the prices and a seed."""


@dataclass(frozen=True)
class Case:
    """A load, of which each seed gives another choice or timing, and the memory that it meets.

    Attributes:
        name: For reports.
        sessions: Makes the sessions of a seed.
        load: How they arrive.
        cluster: One DEP8 prefill engine and four decode engines.
    """

    name: str
    sessions: Callable[[int], Trace]
    load: Load
    cluster: Cluster


def cases(trace: Trace, rank_kv_tokens: int, host_tokens: int = 0) -> tuple[Case, ...]:
    """Return 64 sessions of a trace as they are, cut to 30 turns, and copies of few that all share one prefix.

    Args:
        trace: The recorded sessions.
        rank_kv_tokens: KV of one prefill rank.
        host_tokens: KV of the host tier.
    """
    cluster = Cluster(rank_kv_tokens=rank_kv_tokens, host_tokens=host_tokens)
    shared = fitting(pressure(trace, _SESSIONS), rank_kv_tokens)
    memory = f"{rank_kv_tokens // 1000}K"
    return (
        Case(f"30 turns, {memory}", lambda seed: truncate(sample(trace, _SESSIONS, seed), _TURNS), Load(), cluster),
        Case(f"whole, {memory}", lambda seed: sample(trace, _SESSIONS, seed), Load(), cluster),
        Case(f"one prefix, {memory}", lambda seed: shaken(shared, seed), Load("recorded"), cluster),
    )


def named(policy: str) -> Make:
    """Return what makes a router of a policy that `dynamo replay --policy` knows."""
    return lambda costs, seed: router(policy, costs, seed)


def replay(case: Case, routers: Mapping[str, Make], seeds: Iterable[int]) -> list[Run]:
    """Replay a case through every router with every seed."""
    return [run for seed in seeds for run in _seed(case, case.sessions(seed), routers, seed)]


def _seed(case: Case, trace: Trace, routers: Mapping[str, Make], seed: int) -> Iterator[Run]:
    # The policy knows of the host tier, as it does in service.
    costs = Costs(host_tokens=case.cluster.host_tokens)
    for policy, make in routers.items():
        begun = time.monotonic()
        run = Replay(trace, make(costs, seed), case.cluster, case.load, costs, seed=seed)
        measures = run.run()
        took = time.monotonic() - begun
        told = f"{case.name}, seed {seed}, {policy}: {measures.reuse_ratio:.3f} {measures.rank_load_max_over_mean:.2f}"
        print(f"{told} {measures.user_tokens_per_s:.1f} tok/s, {took:.1f} s", file=sys.stderr, flush=True)
        ranks = rank_tokens(run.served, case.cluster.prefill_engines * case.cluster.prefill_ranks)
        yield Run(policy, case.load.spacing_s, seed, measures, steady(run.served) / case.cluster.gpus, ranks)
