"""The figures of a replay as matplotlib draws them; its windows and global state are not touched."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from graphs.commands.pictures import COLORS
from graphs.commands.replay.results import Results
from router.replay.report import Column, columns
from router.replay.series import Series

_DASHES = ("-", "--", "-.", ":")
_MARKERS = "osD^vPX"
_BOUND = "#777777"


def picture(results: Results) -> Figure:
    """Draw one load as what happened in its first run, and a sweep of loads as a curve."""
    if len(results.ask.loads) > 1:
        return _curves(results)
    return _run(results.series, f"{results.title}, seed {results.sizes[0].seed}")


def _run(series: Mapping[str, Series], title: str) -> Figure:
    figure = Figure(figsize=(11, 7.4), layout="constrained")
    figure.suptitle(title, x=0.01, ha="left")
    (load, imbalance), (reuse, ttft) = figure.subplots(2, 2)
    _rank_load(load, series)
    _imbalance(imbalance, series)
    _reuse(reuse, series)
    _ttft(ttft, series)
    lines, labels = imbalance.get_legend_handles_labels()
    bounds, names = reuse.get_legend_handles_labels()
    figure.legend([*lines, *bounds], [*labels, *names], loc="outside lower center", ncols=6)
    return figure


def _rank_load(axes: Axes, series: Mapping[str, Series]) -> None:
    width = 0.84 / len(series)
    for number, each in enumerate(series.values()):
        places = [rank + (number + 0.5) * width - 0.42 for rank in range(len(each.rank_load))]
        axes.bar(places, each.rank_load, width * 0.9, color=COLORS[number % len(COLORS)])
    axes.axhline(1.0, color=_BOUND, linewidth=1)
    axes.set(title="New tokens computed, by prefill rank", xlabel="rank", ylabel="over the mean rank's")
    axes.set_xticks(range(len(each.rank_load)))
    axes.grid(visible=False, axis="x")


def _imbalance(axes: Axes, series: Mapping[str, Series]) -> None:
    for number, (policy, each) in enumerate(series.items()):
        axes.plot(each.requests, each.imbalance, label=policy, **_line(number))
    axes.set(title="Busiest rank over the mean, from the start", xlabel="requests so far", ylabel="max / mean")
    # At the start one rank has all the work there is.
    top = max(float(each.imbalance[len(each.imbalance) // 20 :].max()) for each in series.values())
    axes.set_ylim(1.0, 1.0 + 1.1 * (top - 1.0))
    axes.set_xlim(left=0)


def _reuse(axes: Axes, series: Mapping[str, Series]) -> None:
    first = next(iter(series.values()))
    axes.plot(first.requests, first.ideal, color=_BOUND, linewidth=1.2, label="ideal reuse")
    axes.plot(
        first.requests,
        first.pooled,
        color=_BOUND,
        linewidth=1.2,
        linestyle=":",
        label=f"pooled reuse, asked as {next(iter(series))} was",
    )
    for number, each in enumerate(series.values()):
        axes.plot(each.requests, each.reuse, **_line(number))
    axes.set(title="Prompt tokens found cached, from the start", xlabel="requests so far", ylabel="share")
    low = min(float(each.reuse[len(each.reuse) // 20 :].min()) for each in series.values())
    axes.set_ylim(max(0.0, low - 0.05), 1.0)
    axes.set_xlim(left=0)


def _ttft(axes: Axes, series: Mapping[str, Series]) -> None:
    for number, each in enumerate(series.values()):
        axes.plot(each.ttft_s, [share / 100 for share in range(len(each.ttft_s))], **_line(number))
    axes.set_xscale("log")
    axes.set(title="Time to first token", xlabel="seconds", ylabel="share of requests")
    axes.set_ylim(0.0, 1.0)
    axes.xaxis.set_major_formatter("{x:g}")


def _curves(results: Results) -> Figure:
    figure = Figure(figsize=(8, 5.6), layout="constrained")
    axes = figure.subplots()
    by_policy: dict[str, list[Column]] = {}
    for column in columns(results.runs):
        by_policy.setdefault(column.policy, []).append(column)
    for number, (policy, points) in enumerate(by_policy.items()):
        x, y = (_range(points, name) for name in ("user_tokens_per_s", "steady_gpu_tokens_per_s"))
        spread: dict[str, Any] = {"xerr": x[1], "yerr": y[1]} if len(results.sizes) > 1 else {}
        line = _line(number)
        faint: dict[str, Any] = {"ecolor": (line["color"], 0.35), "elinewidth": 0.8}
        marker = _MARKERS[number % len(_MARKERS)]
        axes.errorbar(x[0], y[0], label=policy, marker=marker, markersize=4.5, **line, **faint, **spread)
    _name_loads(axes, next(iter(by_policy.values())))
    axes.set(xlabel="E2E tok/s per user, queueing and first token included")
    axes.set(ylabel="output tok/s per GPU, middle of the run")
    seeds = f", medians of {len(results.sizes)} seeds" if len(results.sizes) > 1 else ""
    axes.set_title(f"{results.title}{seeds}\nat each point of {results.ask.policies[0]}: time between two sessions")
    axes.set_xlim(0, 1.08 * max(axes.dataLim.x1, 1e-9))
    axes.set_ylim(0, 1.08 * max(axes.dataLim.y1, 1e-9))
    axes.legend()
    return figure


def _name_loads(axes: Axes, points: Sequence[Column]) -> None:
    for number, point in enumerate(points):
        at = point.figures["user_tokens_per_s"].median, point.figures["steady_gpu_tokens_per_s"].median
        # Neighbours, which may lie close, have theirs on different sides.
        place, side = ((6, 6), "left") if number % 2 else ((-6, -12), "right")
        axes.annotate(f"{point.spacing_s:g} s", at, xytext=place, ha=side, textcoords="offset points", fontsize=8)


def _range(points: Iterable[Column], name: str) -> tuple[list[float], tuple[list[float], list[float]]]:
    """Return medians, and how far the range goes below and above them."""
    found = [point.figures[name] for point in points]
    below, above = [each.median - each.low for each in found], [each.high - each.median for each in found]
    return [each.median for each in found], (below, above)


def _line(number: int) -> dict[str, Any]:
    style = _DASHES[number // len(COLORS) % len(_DASHES)]
    return {
        "color": COLORS[number % len(COLORS)],
        "linestyle": style,
        "linewidth": 2.0 if number == 0 else 1.4,
        "zorder": 3 - (number > 0),
    }
