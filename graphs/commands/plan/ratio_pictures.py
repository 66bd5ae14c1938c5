"""The ratios as matplotlib draws them: the Pareto curve, and what each serves at the speed that is asked for."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from graphs.commands import pictures
from graphs.commands.plan.ratio import Result
from graphs.ratio.grid import Point, Ratio

_MARKERS = "osD^vPX"
_GREY = "#777777"


def draw(path: Path, result: Result) -> None:
    """Draw all ratios.

    Raises:
        Refusal: The file cannot be written.
    """
    pictures.save(path, lambda: picture(result))


def picture(result: Result) -> Figure:
    """Return the curve at the left, and at the right a bar for each ratio."""
    figure = Figure(figsize=(11.5, 5.6), layout="constrained")
    curve, bars = figure.subplots(1, 2, width_ratios=(2.3, 1))
    _curve(curve, result)
    _bars(bars, result)
    graph = result.cluster
    figure.suptitle(
        f"{result.prefill.engine.shapes.name} in {result.prefill.engine.weights}: "
        f"{result.prefill.ladder.topology.name} prefill and {result.decode.ladder.topology.name} decode on "
        f"{result.prefill.ladder.device.name}\n{result.name}"
        + ("" if result.ask.numbers.think_cap_s is None else f", waits of at most {result.ask.numbers.think_cap_s:g} s")
        + f"; {graph.rank_kv_tokens:,} tokens of KV on a prefill rank, {graph.decode_kv_tokens:,} on a decoder",
        x=0.01,
        ha="left",
        fontsize=10,
    )
    return figure


def _curve(axes: Axes, result: Result) -> None:
    curves = {one: _of(result, one) for one in result.ask.ratios}
    axes.plot(*envelope(list(curves.values())), color="#000000", linewidth=8, alpha=0.10, label="best of all ratios")
    for number, (one, points) in enumerate(curves.items()):
        most = points.index(max(points, key=lambda each: each.measures.gpu_tokens_per_s))
        color = pictures.COLORS[number % len(pictures.COLORS)]
        marker: dict[str, Any] = {"marker": _MARKERS[number % len(_MARKERS)], "markersize": 4.5, "color": color}
        axes.plot(*_places(points[: most + 1]), linewidth=1.6, label=f"{one.name}, {points[0].gpus} GPUs", **marker)
        # More sessions than its memory or prefill can bear.
        axes.plot(*_places(points[most:]), linewidth=0.9, linestyle=":", alpha=0.6, **marker)
    best = max(result.served, key=lambda each: each.gpu_tokens_per_s)
    _name_points(axes, curves[best.ratio])
    axes.axvline(result.ask.numbers.target_tok_s, color=_GREY, linewidth=1, linestyle="--")
    axes.set(
        xlabel="E2E tok/s per user, queueing and first token included: the median request",
        ylabel="output tok/s per GPU, prefill and decode",
        title=f"at the points of {best.ratio.name}: sessions at once (requests in flight)",
    )
    axes.set_xlim(0, 1.1 * max(each.measures.user_tokens_per_s for each in result.points))
    axes.set_ylim(0, 1.1 * max(each.measures.gpu_tokens_per_s for each in result.points))
    axes.legend(loc="upper right")


def envelope(curves: Sequence[Sequence[Point]]) -> tuple[list[float], list[float]]:
    """Return the most that any of the curves has for a GPU, by what a user has.

    Args:
        curves: Of each ratio its points.
    """
    lines = [list(zip(*_places(points), strict=True)) for points in curves]
    speeds = sorted({speed for line in lines for speed, _ in line})
    top = [max(_reached(line, speed) for line in lines) for speed in speeds]
    return speeds, top


def _reached(line: Sequence[tuple[float, float]], speed: float) -> float:
    """The most on a line for a GPU where each user has that speed or more."""
    found = 0.0
    for (fast, little), (slow, much) in pairwise(line):
        if fast >= speed:
            found = max(found, little)
        if slow < speed <= fast:
            found = max(found, little + (much - little) * (fast - speed) / (fast - slow))
    last = line[-1]
    return max(found, last[1]) if last[0] >= speed else found


def _name_points(axes: Axes, points: Sequence[Point]) -> None:
    for each in points:
        axes.annotate(
            f"{each.sessions} ({each.measures.in_flight:.0f})",
            (each.measures.user_tokens_per_s, each.measures.gpu_tokens_per_s),
            xytext=(7, 5),
            textcoords="offset points",
            fontsize=8,
            color="#333333",
        )


def _bars(axes: Axes, result: Result) -> None:
    for number, each in enumerate(result.served):
        color = pictures.COLORS[number % len(pictures.COLORS)]
        axes.barh(number, each.gpu_tokens_per_s, 0.7, color=color)
        more = "+" if each.more else ""
        said = f"{each.sessions}{more} sessions ({each.in_flight:.0f} in flight)" if each.sessions else "too slow"
        axes.annotate(
            said,
            (each.gpu_tokens_per_s, number),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
            color="#222222",
        )
    axes.set_yticks(range(len(result.served)), [each.ratio.name for each in result.served])
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set_xlim(0, 1.9 * max([1e-9, *(each.gpu_tokens_per_s for each in result.served)]))
    axes.set(
        title=f"at {result.ask.numbers.target_tok_s:g} tok/s per user",
        xlabel="output tok/s per GPU",
    )


def _of(result: Result, one: Ratio) -> list[Point]:
    return [each for each in result.points if each.ratio == one]


def _places(points: Sequence[Point]) -> tuple[list[float], list[float]]:
    return (
        [each.measures.user_tokens_per_s for each in points],
        [each.measures.gpu_tokens_per_s for each in points],
    )
