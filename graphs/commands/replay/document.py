"""The report, to read and for programs."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any

import msgspec

from graphs.commands.replay.results import Results
from graphs.model import Topology
from router.replay.cluster import Cluster, Load
from router.replay.report import Column, columns, figures, table

_UNITS = ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "K"))


def as_json(results: Results) -> dict[str, Any]:
    """Return the report as one document: what was replayed, every run, and every figure over the seeds."""
    return {
        "traces": [asdict(size) for size in results.sizes],
        "cluster": {**msgspec.structs.asdict(results.cluster), "gpus": results.cluster.gpus},
        "costs": msgspec.structs.asdict(results.costs),
        "load": {"arrivals": results.ask.loads[0].arrivals, "think_cap_s": results.ask.loads[0].think_cap_s},
        "runs": [
            {
                "policy": run.policy,
                "spacing_s": run.spacing_s,
                "seed": run.seed,
                **figures(run),
                "rank_new_tokens": list(run.rank_tokens),
                "reasons": run.measures.reasons,
            }
            for run in results.runs
        ],
        "summary": [_summary(column) for column in columns(results.runs)],
    }


def as_text(results: Results) -> Iterator[str]:
    """Write the trace and the cluster in a line each, and a table for each load."""
    yield f"trace    {_trace(results)}"
    yield f"cluster  {_cluster(results.cluster)}"
    for load, (_, chosen) in zip(
        results.ask.loads, groupby(columns(results.runs), lambda column: column.spacing_s), strict=True
    ):
        yield ""
        yield _load(load)
        yield from table(list(chosen))


def _summary(column: Column) -> dict[str, Any]:
    ranges = {
        name: {"median": figure.median, "min": figure.low, "max": figure.high}
        for name, figure in column.figures.items()
    }
    return {"policy": column.policy, "spacing_s": column.spacing_s, **ranges, "reasons": column.reasons}


def _trace(results: Results) -> str:
    sizes = results.sizes
    name = "made up" if results.ask.trace is None else sizes[0].name
    seeds = f"seed {sizes[0].seed}" if len(sizes) == 1 else f"seeds {sizes[0].seed} to {sizes[-1].seed}"
    return (
        f"{name}, {seeds}: {_between([size.sessions for size in sizes])} sessions, "
        f"{_between([size.requests for size in sizes])} requests, "
        f"{_between([size.prompt_tokens for size in sizes])} prompt tokens, "
        f"{_between([size.output_tokens for size in sizes])} output tokens"
    )


def _cluster(cluster: Cluster) -> str:
    rank = Topology(cluster.rank_gpus, cluster.prefill_ranks, expert_parallel=True)
    host = f"{_short(cluster.host_tokens)} in host memory" if cluster.host_tokens else "no host tier"
    rank_kv, decode_kv = _short(cluster.rank_kv_tokens), _short(cluster.decode_kv_tokens)
    return (
        f"{cluster.prefill_engines} x {rank} prefill, {rank_kv} tokens of KV a rank, {host}; "
        f"{cluster.decode_engines} x {cluster.decode_gpus} GPUs decode, {decode_kv} tokens each; "
        f"{cluster.gpus} GPUs"
    )


def _load(load: Load) -> str:
    think = "" if load.think_cap_s is None else f", waits of at most {load.think_cap_s:g} s"
    if load.arrivals == "recorded":
        return f"sessions arrive as recorded{think}"
    mean = "on average " if load.arrivals == "poisson" else ""
    return f"a session arrives {mean}every {load.spacing_s:g} s{think}"


def _between(counts: Sequence[int]) -> str:
    low, high = _short(min(counts)), _short(max(counts))
    return low if low == high else f"{low}-{high}"


def _short(count: int) -> str:
    for size, unit in _UNITS:
        if count >= 10 * size:
            return f"{count / size:,.0f}{unit}"
        if count >= size:
            return f"{count / size:.3g}{unit}"
    return str(count)
