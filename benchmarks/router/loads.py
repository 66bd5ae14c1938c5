"""All sessions of a trace, arriving at random, from a light load to saturation."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path

from benchmarks.router.cases import LARGE, Case, named, replay
from benchmarks.router.tables import BALANCE, OF_POOLED, REUSE, SPEED, TTFT_90, Shown, table
from graphs.commands.replay.ask import Ask
from graphs.commands.replay.results import Results, size_of
from router.costs import Costs
from router.replay.cluster import Cluster, Load
from router.replay.report import Column, Run, columns
from router.replay.trace import Trace

TITLE = "router under load"
POLICIES = ("sticky", "kv", "kv-affinity", "consistent-hash-bounded", "cache-aware", "affinity-filter")
SPACINGS_S = (240.0, 120.0, 90.0, 60.0, 45.0, 30.0)
ABOUT = (
    "All recorded sessions, arriving at random so often on average, recorded waits, 768K tokens of KV a rank; one run "
    "of each. To be met: at every load the E2E tok/s per user of the best other rule, to 1 % of it, and 1.25 times "
    "kv-affinity's at the last."
)

_AS_GOOD = 0.99
_SATURATED_GAIN = 1.25


def measure(trace: Trace, _seeds: Iterable[int]) -> Results:
    """Replay every load; one run of so many requests says enough."""
    routers = {policy: named(policy) for policy in POLICIES}
    cluster = Cluster(rank_kv_tokens=LARGE)
    loads = tuple(Load("poisson", spacing_s) for spacing_s in SPACINGS_S)
    ask = Ask(Path(trace.name), POLICIES, None, None, (0,), loads, None)
    results = Results(ask, cluster, Costs(), [size_of(trace, 0)])
    for load in loads:
        results.runs += replay(Case(f"{load.spacing_s:g} s", lambda _seed: trace, load, cluster), routers, (0,))
    return results


def report(found: Results) -> str:
    """Write the table."""
    rows = [
        ((f"{column.spacing_s:g} s", column.policy, f"{_speed(group[0]) / _speed(column):.2f}"), column)
        for group in _groups(found.runs)
        for column in group
    ]
    middle = Shown("TTFT p50, s", "ttft_p50_ms", 2, 1e-3)
    output = Shown("output tok/s per GPU", "steady_gpu_tokens_per_s", 2)
    heads = ("a session every", "policy", "sticky's speed / its")
    return table(heads, rows, (SPEED, output, middle, TTFT_90, REUSE, OF_POOLED, BALANCE))


def met(found: Results) -> bool:
    """Whether our policy keeps what is promised."""
    groups = _groups(found.runs)
    as_good = all(_speed(group[0]) >= _AS_GOOD * max(map(_speed, group[1:])) for group in groups)
    affinity = next(column for column in groups[-1] if column.policy == "kv-affinity")
    return as_good and _speed(groups[-1][0]) >= _SATURATED_GAIN * _speed(affinity)


def _groups(runs: Sequence[Run]) -> list[list[Column]]:
    """Return the columns of each load, ours first."""
    return [list(group) for _, group in groupby(columns(runs), lambda column: column.spacing_s)]


def _speed(column: Column) -> float:
    return column.figures["user_tokens_per_s"].median
