"""Reuse and balance on device memory alone, beside the rules of others."""

from collections.abc import Mapping, Sequence

from benchmarks.router.cases import LARGE, SMALL, Case, cases, named, replay
from benchmarks.router.tables import BALANCE, IDLE, OF_POOLED, REUSE, SPEED, TTFT_90, table
from router.replay.report import Column, columns
from router.replay.trace import Trace

TITLE = "router targets"
ABOUT = (
    "64 recorded sessions, a new one every 0.7 s, recorded waits, on one DEP8 prefill engine and four TP4 decode "
    "engines; medians over the seeds, which choose the sessions. To be met: reuse of 0.96 of the pooled bound with "
    "768K tokens of KV a rank and of 0.70 with 256K, 1.15 for the busiest rank over the mean, no idle rank."
)
POLICIES = ("sticky", "kv", "kv-affinity", "consistent-hash-bounded", "cache-aware", "affinity-filter")

_LEAST_OF_POOLED = {LARGE: 0.96, SMALL: 0.70}
_MOST_BALANCE = 1.15

Found = Sequence[tuple[Case, Sequence[Column]]]


def measure(trace: Trace, seeds: Sequence[int]) -> Found:
    """Replay all cases with both sizes of memory."""
    routers = {policy: named(policy) for policy in POLICIES}
    return [(case, columns(replay(case, routers, seeds))) for tokens in (LARGE, SMALL) for case in cases(trace, tokens)]


def report(found: Found) -> str:
    """Write the table."""
    rows = [((case.name, column.policy, _verdict(case, column)), column) for case, group in found for column in group]
    return table(("load", "policy", "met"), rows, (REUSE, OF_POOLED, BALANCE, IDLE, TTFT_90, SPEED))


def met(found: Found) -> bool:
    """Whether our policy keeps all that is promised."""
    return all(reached(case, column.figures) for case, group in found for column in group[:1])


def reached(case: Case, figures: Mapping[str, tuple[float, float, float]]) -> bool:
    """Whether the medians keep what is promised for a case."""
    enough = figures["reuse_of_pooled"][0] >= _LEAST_OF_POOLED[case.cluster.rank_kv_tokens]
    return enough and figures["rank_load_max_over_mean"][0] <= _MOST_BALANCE and figures["idle_ranks"][0] == 0


def _verdict(case: Case, column: Column) -> str:
    return "yes" if reached(case, column.figures) else "no"
