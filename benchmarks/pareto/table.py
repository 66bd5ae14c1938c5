"""The predictions as Markdown."""

from collections.abc import Iterator, Sequence
from statistics import median
from typing import Final

from benchmarks.pareto.predict import Prediction
from graphs.ratio.grid import Point

USER_TOK_S: Final = 101.0
GPU_TOK_S: Final = 100.0
"""The published point, which is compared and never fitted. With 24 GPUs it is 24 requests in flight."""

_ABOUT = (
    "One DEP8 prefill engine and four TP4 decoders of GB200, memory as in configs/gb200-1p4d.yaml, recorded sessions "
    "whose waits between turns are cut; medians and ranges over the orders of sessions. Fitted: the decode step's one "
    "factor, so that the ITL of 64 sessions is 6.08 ms. Predicted: all else. *Wait* is the mean in prefill's queue "
    "with a budget of 8,192 and of 4,096 tokens; 550 and 110 ms were published."
)


def report(found: Sequence[Prediction], moved: Sequence[tuple[str, Point]], cap_s: float) -> str:
    """Write both tables."""
    lines = [_ABOUT, "", *_predicted(found), "", _moved_head(cap_s), "", *_moved(moved)]
    return "\n".join(lines)


def _predicted(found: Sequence[Prediction]) -> Iterator[str]:
    yield (
        "| chunk read as | longest wait, mean, s | in a step at 64 | tok/s/user | of 101 | tok/s/GPU | of 100 | "
        "in flight | wait, ms |"
    )
    yield "| --- | --: | --: | --: | --: | --: | --: | --: | --: |"
    for each in found:
        user, gpu, (before, after) = each.of("user_tokens_per_s"), each.of("gpu_tokens_per_s"), each.wait_ms
        yield (
            f"| {each.reading} | {each.think_cap_s:g}, {each.think_s:.1f} | {each.itl_requests:.1f} | {_spread(user)} "
            f"| {_against(median(user), USER_TOK_S)} | {_spread(gpu)} | {_against(median(gpu), GPU_TOK_S)} "
            f"| {median(each.of('in_flight')):.1f} | {before:.0f} → {after:.0f} |"
        )


def _spread(values: Sequence[float]) -> str:
    return f"{median(values):.0f} ({values[0]:.0f}-{values[-1]:.0f})"


def _moved_head(cap_s: float) -> str:
    return (
        "What a measurement that is a fifth larger changes, in the first reading and order of sessions, with waits of "
        f"at most {cap_s:g} s:"
    )


def _moved(moved: Sequence[tuple[str, Point]]) -> Iterator[str]:
    base = moved[0][1].measures
    yield "| a fifth larger | tok/s/user | | tok/s/GPU | | in flight |"
    yield "| --- | --: | --: | --: | --: | --: |"
    for name, each in moved:
        found = each.measures
        yield (
            f"| {name} | {found.user_tokens_per_s:.0f} | {_against(found.user_tokens_per_s, base.user_tokens_per_s)} "
            f"| {found.gpu_tokens_per_s:.0f} | {_against(found.gpu_tokens_per_s, base.gpu_tokens_per_s)} "
            f"| {found.in_flight:.1f} |"
        )


def _against(value: float, wanted: float) -> str:
    return f"{value / wanted - 1:+.0%}"
