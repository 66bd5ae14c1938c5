"""Little device memory and a host tier behind it."""

from collections.abc import Sequence
from dataclasses import replace

from benchmarks.router.cases import HOST_TOKENS, SMALL, Case, cases, named, replay
from benchmarks.router.tables import BALANCE, REUSE, SPEED, TTFT_90, Shown, table
from router.replay.report import Column, columns
from router.replay.trace import Trace

TITLE = "router with a host tier"
ABOUT = (
    "As `targets`, with 256K tokens of KV a rank and 512 GiB of host memory behind all of them. To be met: reuse of "
    "0.93, from device and host memory together, and half of the TTFT p90 of kv, which has the tier as well. For "
    "comparison: kv without the tier, and ranks that never evict."
)
POLICIES = ("sticky", "kv", "kv-affinity", "consistent-hash-bounded", "cache-aware", "affinity-filter")

_ENDLESS = 100_000_000
"""Tokens of KV on a rank that holds all there is."""

_LEAST_REUSE = 0.93
_MOST_TTFT = 0.5

Found = Sequence[tuple[Case, Sequence[Column]]]


def measure(trace: Trace, seeds: Sequence[int]) -> Found:
    """Replay all cases."""
    routers = {policy: named(policy) for policy in POLICIES}
    found = []
    for case, bare, endless in zip(
        cases(trace, SMALL, HOST_TOKENS), cases(trace, SMALL), cases(trace, _ENDLESS), strict=True
    ):
        runs = replay(case, routers, seeds)
        # The same sessions: those that fit a rank of the size compared.
        runs += replay(bare, {"kv, no host tier": named("kv")}, seeds)
        runs += replay(replace(endless, sessions=case.sessions), {"sticky, no eviction": named("sticky")}, seeds)
        found.append((case, columns(runs)))
    return found


def report(found: Found) -> str:
    """Write the table."""
    rows = [
        ((case.name, column.policy, f"{_ttft(column) / _ttft(group[1]):.2f}"), column)
        for case, group in found
        for column in group
    ]
    device = Shown("of it from device", "device_reuse_ratio")
    ideal = Shown("ideal", "ideal_reuse_ratio")
    middle = Shown("TTFT p50, s", "ttft_p50_ms", 2, 1e-3)
    return table(("load", "policy", "TTFT p90 / kv's"), rows, (REUSE, device, ideal, BALANCE, middle, TTFT_90, SPEED))


def met(found: Found) -> bool:
    """Whether our policy keeps what is promised."""
    return all(
        group[0].figures["reuse_ratio"].median >= _LEAST_REUSE and _ttft(group[0]) <= _MOST_TTFT * _ttft(group[1])
        for _, group in found
    )


def _ttft(column: Column) -> float:
    return column.figures["ttft_p90_ms"].median
