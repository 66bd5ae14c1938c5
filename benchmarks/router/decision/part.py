"""What a decision costs: time and memory of the router in service."""

from collections.abc import Iterable

import msgspec
import numpy as np

from benchmarks.frontend.processes import processes
from benchmarks.frontend.table import number
from benchmarks.router.decision.engines import start_engines
from benchmarks.router.decision.figures import Amount, Found

TITLE = "router decision"
ABOUT = (
    "A placement as `dynamo_glm_router_decision_seconds` counts it, in a process as the frontend's: the index of KV "
    "events, the books and the policy over 4 prefill engines of 8 ranks and 16 decode engines (mockers, processes of "
    "their own), 10,000 sessions of 8K, 32K and 146K tokens in the books, 768K tokens of KV a rank. *First* turns are "
    "of new sessions, *second* ones repeat a prompt that was computed and add 6K tokens; *found* is the mean share "
    "of the prompt that a rank had. *CPU* is of all threads during the placement. *Before* it: the prompt's "
    "fingerprints and block hashes, on the thread that prepares a request, and the search for its session. Dynamo's is "
    "`KvRouter.best_worker` over the same engines, with its list of tokens ready; it chooses among prefill ranks only. "
    "To be met: 3 ms at the median and 6 ms at p99 for 146K tokens."
)

_MOST_P50, _MOST_P99 = 3.0, 6.0
_LARGEST = "146K"
_BYTES = 1e6


def measure(_trace: object, _seeds: Iterable[int], amount: Amount | None = None) -> Found:
    """Start the engines, and decide in a process beside them.

    Raises:
        BenchmarkError: If a process fails.
    """
    with processes() as group:
        start_engines(group)
        asked, told = msgspec.json.encode(amount or Amount()).decode(), group.folder / "decision.json"
        group.run("the measuring process", ["-m", "benchmarks.router.decision.run", asked, str(told)])
        return msgspec.json.decode(told.read_bytes(), type=Found)


def report(found: Found) -> str:
    """Write the tables."""
    return f"{_time_table(found)}\n\n{_memory_table(found)}"


def _time_table(found: Found) -> str:
    heads = ("found", "decision", "in the index", "in books and policy", "CPU", "before, CPU", "Dynamo's decision")
    lines = [
        f"| ms, p50 / p99 | turn | {' | '.join((*heads, 'ours / Dynamo, p50'))} |",
        f"| {' | '.join(['---'] * 2 + ['--:'] * (len(heads) + 1))} |",
    ]
    for times in found.times:
        series = (times.whole, times.index, times.policy, times.cpu, times.before, times.dynamo)
        cells = [" / ".join(number(float(np.percentile(each, p))) for p in (50, 99)) for each in series]
        ratio = np.median(times.whole) / np.median(times.dynamo)
        share = f"{np.mean(times.found):.2f}"
        lines.append(f"| {times.size} | {times.turn} | {share} | {' | '.join(cells)} | {ratio:.2f} |")
    return "\n".join(lines)


def _memory_table(found: Found) -> str:
    lines = ["| memory | MB | |", "| --- | --: | --- |"]
    for each in found.memory:
        of = f"{each.number:,} {each.thing}s, {each.size / each.number:,.0f} B each" if each.thing else ""
        lines.append(f"| {each.owner} | {each.size / _BYTES:,.1f} | {of} |")
    return "\n".join(lines)


def met(found: Found) -> bool:
    """Whether the largest prompts are placed in time."""
    return all(
        np.percentile(times.whole, 50) <= _MOST_P50 and np.percentile(times.whole, 99) <= _MOST_P99
        for times in found.times
        if times.size == _LARGEST
    )
