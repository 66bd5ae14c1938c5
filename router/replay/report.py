"""What a replay reports: the figures of each run by name, their medians over seeds, and the table to read."""

from collections.abc import Iterator, Sequence
from statistics import median
from typing import NamedTuple

import msgspec

from router.replay.measures import Measures, Served

_MIDDLE = (0.1, 0.9)
"""Of a run's answers: before it fills up, and after it only the longest sessions are left."""


_ONE_PERCENT = 0.01


class Run(msgspec.Struct, frozen=True):
    """One trace replayed under one policy at one load.

    Attributes:
        policy: Its name.
        spacing_s: Time between two sessions' arrivals; None where the trace says when they come.
        seed: Of the sessions, their arrivals and the policy's ties.
        measures: The figures.
        steady_gpu_tokens_per_s: Tokens of answers a second and GPU in the middle of the run, see `steady`.
        rank_tokens: New tokens computed, by prefill rank.
    """

    policy: str
    spacing_s: float | None
    seed: int
    measures: Measures
    steady_gpu_tokens_per_s: float
    rank_tokens: tuple[int, ...]


class Range(NamedTuple):
    """A figure over seeds: median, least and greatest."""

    median: float
    low: float
    high: float


class Column(NamedTuple):
    """The figures of one policy at one load over all seeds."""

    policy: str
    spacing_s: float | None
    figures: dict[str, Range]
    reasons: dict[str, int]


class _Row(NamedTuple):
    label: str
    figure: str
    scale: float = 1.0
    digits: int = 0


_ROWS = (
    _Row("requests", "requests"),
    _Row("reuse_ratio", "reuse_ratio", digits=3),
    _Row("  from device memory", "device_reuse_ratio", digits=3),
    _Row("  of ideal_reuse_ratio", "reuse_of_ideal", digits=3),
    _Row("  of pooled_reuse_ratio", "reuse_of_pooled", digits=3),
    _Row("ideal_reuse_ratio", "ideal_reuse_ratio", digits=3),
    _Row("pooled_reuse_ratio", "pooled_reuse_ratio", digits=3),
    _Row("rank_load_max_over_mean", "rank_load_max_over_mean", digits=2),
    _Row("lockstep_efficiency", "lockstep_efficiency", digits=3),
    _Row("idle ranks", "idle_ranks"),
    _Row("queue wait p50, s", "wait_p50_ms", 1e-3, 2),
    _Row("queue wait p90, s", "wait_p90_ms", 1e-3, 2),
    _Row("TTFT p50, s", "ttft_p50_ms", 1e-3, 2),
    _Row("TTFT p90, s", "ttft_p90_ms", 1e-3, 2),
    _Row("ITL p50, ms", "itl_p50_ms", digits=1),
    _Row("ITL p90, ms", "itl_p90_ms", digits=1),
    _Row("E2E tok/s per user", "user_tokens_per_s", digits=1),
    _Row("output tok/s per GPU", "gpu_tokens_per_s", digits=2),
    _Row("  middle of the run", "steady_gpu_tokens_per_s", digits=2),
    _Row("moves", "moves"),
    _Row("decode moves", "decode_moves"),
    _Row("duration, s", "duration_s"),
)


def steady(served: Sequence[Served]) -> float:
    """Return the tokens of answers a second between the tenth and the ninetieth percent of them.

    A closed loop of sessions ends with the few longest ones, which leave the GPUs idle however good the policy is.
    """
    ordered = sorted((each.finished_ms, each.answer_tokens) for each in served)
    total = sum(tokens for _, tokens in ordered)
    low, high = (share * total for share in _MIDDLE)
    done, begin_ms, end_ms, within = 0, 0.0, 0.0, 0
    for finished_ms, tokens in ordered:
        done += tokens
        if done <= low:
            begin_ms = finished_ms
        elif done <= high:
            end_ms = finished_ms
            within += tokens
    return within / (end_ms - begin_ms) * 1e3 if end_ms > begin_ms else 0.0


def rank_tokens(served: Sequence[Served], ranks: int) -> tuple[int, ...]:
    """Add up the new tokens that each prefill rank computed."""
    computed = [0] * ranks
    for each in served:
        computed[each.rank] += each.prompt_tokens - each.device_tokens - each.host_tokens
    return tuple(computed)


def figures(run: Run) -> dict[str, float]:
    """Return every figure of a run under its name in the JSON report."""
    found = msgspec.structs.asdict(run.measures)
    del found["reasons"]
    for name in ("wait", "ttft", "itl"):
        found[f"{name}_p50_ms"], found[f"{name}_p90_ms"] = found.pop(f"{name}_ms")
    reuse = run.measures.reuse_ratio
    return found | {
        "reuse_of_ideal": reuse / (run.measures.ideal_reuse_ratio or 1.0),
        "reuse_of_pooled": reuse / (run.measures.pooled_reuse_ratio or 1.0),
        "steady_gpu_tokens_per_s": run.steady_gpu_tokens_per_s,
    }


def columns(runs: Sequence[Run]) -> list[Column]:
    """Summarise runs over their seeds, by load and policy in the order in which these first appear."""
    groups: dict[tuple[float | None, str], list[Run]] = {}
    for run in runs:
        groups.setdefault((run.spacing_s, run.policy), []).append(run)
    loads = list(dict.fromkeys(run.spacing_s for run in runs))
    ordered = sorted(groups.items(), key=lambda item: loads.index(item[0][0]))
    return [Column(policy, spacing_s, _ranges(group), _reasons(group)) for (spacing_s, policy), group in ordered]


def table(chosen: Sequence[Column]) -> Iterator[str]:
    """Write columns of one load side by side, and below them why sessions went where they did."""
    rows = [row for row in _ROWS if row.figure != "device_reuse_ratio" or _host_is_used(chosen)]
    cells = [[column.policy, *(_cell(column.figures[row.figure], row) for row in rows)] for column in chosen]
    labels = ["", *(row.label for row in rows)]
    widths = [max(map(len, texts)) for texts in (labels, *cells)]
    for texts in zip(labels, *cells, strict=True):
        first, *others = (text.ljust(width) for text, width in zip(texts, widths, strict=True))
        yield "  ".join([first, *others]).rstrip()
    for column in chosen:
        if len(column.reasons) > 1:
            total = sum(column.reasons.values())
            shares = (f"{reason} {_percent(count / total)}" for reason, count in column.reasons.items())
            yield f"{column.policy} decided: {', '.join(shares)}"


def _ranges(group: Sequence[Run]) -> dict[str, Range]:
    found = [figures(run) for run in group]
    return {name: _range([each[name] for each in found]) for name in found[0]}


def _range(values: Sequence[float]) -> Range:
    return Range(median(values), min(values), max(values))


def _reasons(group: Sequence[Run]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for run in group:
        for reason, count in run.measures.reasons.items():
            counts[reason] = counts.get(reason, 0) + count
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _host_is_used(chosen: Sequence[Column]) -> bool:
    return any(column.figures["reuse_ratio"] != column.figures["device_reuse_ratio"] for column in chosen)


def _cell(figure: Range, row: _Row) -> str:
    middle, low, high = (f"{value * row.scale:,.{row.digits}f}" for value in figure)
    return middle if low == high else f"{middle} ({low}-{high})"


def _percent(share: float) -> str:
    return f"{share:.0%}" if share >= _ONE_PERCENT else "<1%"
