"""The figures as Markdown."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from benchmarks.prefill_budget.load import Answered

Rounds = Sequence[Sequence[Answered]]

PUBLISHED: Final = "550 to 110 ms of queue wait, and 20 % less TTFT"
"""What a smaller budget brought on eight ranks that step together, as the Prime Inference write-up has it."""

_KINDS: Final[dict[str, Callable[[Answered], bool]]] = {
    "all": lambda _: True,
    "short": lambda answer: not answer.long,
    "long": lambda answer: answer.long,
}


def percentile(values: Sequence[float], hundredth: int) -> float:
    """Return a percentile; the nearest value for a single one."""
    return statistics.quantiles(values, n=100, method="inclusive")[hundredth - 1] if len(values) > 1 else values[0]


def _cell(rounds: Rounds, kind: str, of: str, hundredth: int) -> str:
    values = [
        percentile([getattr(answer, of) for answer in answers if _KINDS[kind](answer)], hundredth) for answers in rounds
    ]
    return f"{statistics.median(values):,.0f} ({min(values):,.0f}-{max(values):,.0f})"


def mean_ms(rounds: Rounds, of: str) -> float:
    """Return the median over rounds of the mean over all requests."""
    return statistics.median(statistics.fmean(getattr(answer, of) for answer in answers) for answers in rounds)


def report(measured: Mapping[int, Rounds]) -> str:
    """Return the table and what the smaller budget is worth.

    Args:
        measured: By budget, in tokens; two of them.
    """
    columns = [("queue_ms", 50), ("queue_ms", 90), ("compute_ms", 50), ("ttft_ms", 50), ("ttft_ms", 90)]
    lines = [
        "| budget, tokens | prompts | queue p50, ms | queue p90, ms | compute p50, ms | TTFT p50, ms | TTFT p90, ms |",
        "| --: | --- | --: | --: | --: | --: | --: |",
    ]
    for budget, rounds in measured.items():
        for kind in _KINDS:
            cells = " | ".join(_cell(rounds, kind, *column) for column in columns)
            lines.append(f"| {budget:,} | {kind} | {cells} |")
    small, large = sorted(measured)
    queue, ttft = (mean_ms(measured[small], of) / mean_ms(measured[large], of) for of in ("queue_ms", "ttft_ms"))
    found = (
        f"Means over all requests, {small:,} over {large:,} tokens: queue wait {queue:.2f}, TTFT {ttft:.2f}. "
        f"The write-up: {PUBLISHED}, so 0.20 and 0.80."
    )
    return "\n".join([*lines, "", found])
