"""The ladders as matplotlib draws them: a column for each engine, from all of a GPU's memory down to its KV."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from graphs.commands import pictures
from graphs.commands.plan.engines import Planned
from graphs.memory.devices import GIB

_KINDS = {
    "reserve": "#999999",
    "weights": pictures.COLORS[0],
    "assumed": pictures.COLORS[5],
    "logged": pictures.COLORS[3],
    "kv": pictures.COLORS[2],
}
_KIND_NAMES = {
    "reserve": "kept free",
    "weights": "weights",
    "assumed": "assumed",
    "logged": "vLLM's log",
    "kv": "left for KV",
}
_ROOM = 0.026
"""Share of the column that a line of text takes: a rung below it is named beside it."""


def draw(path: Path, engines: Sequence[Planned]) -> None:
    """Draw all ladders side by side.

    Raises:
        Refusal: The file cannot be written.
    """
    pictures.save(path, lambda: picture(engines))


def picture(engines: Sequence[Planned]) -> Figure:
    """Return a column for each engine."""
    figure = Figure(figsize=(4.2 * len(engines) + 1, 7.4), layout="constrained")
    axes = figure.subplots(1, len(engines), sharey=True, squeeze=False)[0]
    for each, planned in zip(axes, engines, strict=True):
        _column(each, planned)
    axes[0].set_ylabel("GiB of one GPU")
    shown = {"kv", *(rung.kind for planned in engines for rung in planned.ladder.rungs)}
    marks = [Patch(color=color, label=_KIND_NAMES[kind]) for kind, color in _KINDS.items() if kind in shown]
    figure.legend(handles=marks, loc="outside lower left", ncols=len(marks))
    return figure


def _column(axes: Axes, planned: Planned) -> None:
    ladder = planned.ladder
    rungs = [(rung.name, rung.size_bytes / GIB, _KINDS[rung.kind]) for rung in ladder.rungs]
    if ladder.kv_bytes > 0:
        rungs.append((f"KV: {ladder.gpu_tokens:,} tokens", ladder.kv_bytes / GIB, _KINDS["kv"]))
    top = ladder.device.hbm_bytes / GIB
    lowest = top - sum(size for _, size, _ in rungs)
    begin, outside = top, []
    for name, size, color in rungs:
        begin -= size
        axes.bar(0.5, size, 0.9, bottom=begin, color=color, edgecolor="white", linewidth=0.6)
        text, middle = f"{name}, {size:,.1f}", begin + size / 2
        if size >= top * _ROOM:
            axes.text(0.5, middle, text, ha="center", va="center", color="white", fontsize=8)
        else:
            outside.append((middle, text, color))
    _name_outside(axes, outside, top * _ROOM, lowest)
    axes.axhline(0, color="#000000", linewidth=1)
    axes.set_title(
        f"{ladder.engine}, {ladder.topology.name} on {ladder.device.name}\n"
        f"{planned.engine.shapes.name} in {planned.engine.weights}, {ladder.row.cache_dtype} rows",
        fontsize=9,
    )
    axes.set_xlim(0, 2.2)
    axes.set_ylim(lowest, top * 1.02)
    axes.set_xticks([])
    axes.grid(visible=False, axis="x")


def _name_outside(axes: Axes, rungs: Sequence[tuple[float, str, str]], line: float, lowest: float) -> None:
    """Name the small rungs beside their column, each on a line of its own and near its rung."""
    heights = spread([middle for middle, _, _ in rungs], line, lowest + line / 2)
    for (middle, text, color), height in zip(rungs, heights, strict=True):
        axes.annotate(
            text,
            (0.95, middle),
            (1.08, height),
            va="center",
            fontsize=8,
            arrowprops={"arrowstyle": "-", "color": color, "linewidth": 0.6, "relpos": (0, 0.5), "shrinkA": 2},
        )


def spread(wanted: Sequence[float], line: float, lowest: float) -> list[float]:
    """Return heights that are a line apart, as near to the wanted ones as can be, none below the lowest.

    Args:
        wanted: From the highest to the lowest.
        line: Height of a line.
        lowest: The lowest that may be.
    """
    found: list[float] = []
    for height in wanted:
        found.append(min(height, found[-1] - line) if found else height)
    floor = lowest
    for place in reversed(range(len(found))):
        found[place] = max(found[place], floor)
        floor = found[place] + line
    return found
