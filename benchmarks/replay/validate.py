"""Our replay beside Dynamo's own: the same load, the same engines, the same rule must come to the same."""

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from benchmarks.replay import loads, mocker
from benchmarks.replay.figures import Figures
from router.costs import Costs
from router.replay.baselines import POLICIES
from router.replay.cluster import Cluster, Load
from router.replay.simulate import Replay
from router.replay.trace import Trace
from router.router import Router

REUSE_TOLERANCE = 0.02
BALANCE_TOLERANCE = 0.15
_RANK_TOKENS = (768_000, 256_000)
_SHAPES: tuple[Callable[[Trace, int], Trace], ...] = (loads.sessions, loads.pressure)


@dataclass(frozen=True)
class Comparison:
    """One load, memory and rule through both.

    Attributes:
        load: The load's name.
        requests: How many it has.
        rank_kv_tokens: Tokens of KV that a rank's memory holds.
        policy: The rule.
        ours: A run each.
        dynamos: A run each.
    """

    load: str
    requests: int
    rank_kv_tokens: int
    policy: str
    ours: Sequence[Figures]
    dynamos: Sequence[Figures]

    @property
    def reuse_differs_by(self) -> float:
        """Distance of the medians in reuse."""
        return abs(_middle(self.ours, _reuse) - _middle(self.dynamos, _reuse))

    @property
    def balance_differs_by(self) -> float:
        """Distance of the medians in balance."""
        return abs(_middle(self.ours, _balance) - _middle(self.dynamos, _balance))

    @property
    def agrees(self) -> bool:
        """Whether both are as near as they must be."""
        return self.reuse_differs_by <= REUSE_TOLERANCE and self.balance_differs_by <= BALANCE_TOLERANCE


def compare(trace: Trace, count: int, runs: int) -> Iterator[Comparison]:
    """Run both shapes of load at both sizes of memory with both rules, and first one session at a time.

    Then the order of requests is fixed, and round robin leaves nothing to chance: the figures must be the same.

    Args:
        trace: Where the sessions come from.
        count: How many sessions.
        runs: How often, each with arrivals of its own.
    """
    for shape in _SHAPES:
        whole = shape(trace, count)
        for tokens in _RANK_TOKENS:
            load = loads.fitting(whole, tokens)
            graph = mocker.cluster(tokens, load.block_size)
            yield compare_load(loads.one_at_a_time(load), graph, "round-robin", 1)
            for policy in ("round-robin", "kv"):
                yield compare_load(load, graph, policy, runs)


def compare_load(load: Trace, graph: Cluster, policy: str, runs: int) -> Comparison:
    """Run one load through both.

    Args:
        load: The sessions.
        graph: The graph.
        policy: `round-robin` or `kv`.
        runs: How often, each with arrivals of its own.
    """
    prices = mocker.costs(load)
    shaken = [loads.shaken(load, seed) for seed in range(runs)]
    ours = [_replay(each, graph, prices, policy, seed) for seed, each in enumerate(shaken)]
    dynamos = [mocker.replay(each, graph, policy) for each in shaken]
    requests = sum(len(session.turns) for session in load.sessions)
    return Comparison(load.name, requests, graph.rank_kv_tokens, policy, ours, dynamos)


def _replay(load: Trace, graph: Cluster, prices: Costs, policy: str, seed: int) -> Figures:
    router = Router(POLICIES[policy](prices, seed), prices)
    measures = Replay(load, router, graph, Load(arrivals="recorded"), prices, seed=seed).run()
    return Figures(measures.reuse_ratio, measures.rank_load_max_over_mean)


def table(comparisons: Sequence[Comparison]) -> str:
    """Return the comparisons as Markdown: medians, with the least and the greatest in brackets."""
    lines = [
        "| load | KV a rank | policy | reuse: ours | Dynamo's | busiest rank / mean: ours | Dynamo's | agree |",
        "| --- | --: | --- | --: | --: | --: | --: | --- |",
    ]
    for each in comparisons:
        cells = [
            f"{each.load}, {each.requests:,} requests",
            f"{each.rank_kv_tokens // 1000}K",
            each.policy,
            *(_spread(side, figure) for figure in (_reuse, _balance) for side in (each.ours, each.dynamos)),
            "yes" if each.agrees else "NO",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _reuse(figures: Figures) -> float:
    return figures.reuse_ratio


def _balance(figures: Figures) -> float:
    return figures.rank_load_max_over_mean


def _middle(runs: Sequence[Figures], figure: Callable[[Figures], float]) -> float:
    return statistics.median(map(figure, runs))


def _spread(runs: Sequence[Figures], figure: Callable[[Figures], float]) -> str:
    middle = f"{_middle(runs, figure):.3f}"
    values = [figure(run) for run in runs]
    return middle if len(values) == 1 else f"{middle} ({min(values):.3f}-{max(values):.3f})"
