"""One run's figures, from what its client reports."""

from collections.abc import Sequence
from itertools import groupby

from benchmarks.router.live.job import Attempt, Report
from benchmarks.router.live.slice import bounds
from router.replay.measures import percentiles
from router.replay.trace import Trace

Figures = dict[str, float]


def figures(report: Report, cut: Trace, memory_tokens: int) -> Figures:
    """Add a run up.

    Args:
        report: The run.
        cut: The sessions that were sent.
        memory_tokens: Recorded tokens that the ranks' memories hold together.
    """
    answered = [attempt for attempt in report.attempts if attempt.error is None]
    prompt = max(1, sum(attempt.prompt_tokens for attempt in answered))
    reuse = sum(attempt.cached_tokens for attempt in answered) / prompt
    bound = bounds(cut, [(attempt.agent, attempt.turn) for attempt in answered], memory_tokens)
    computed = report.computed
    ttft_p50, ttft_p90 = percentiles([attempt.ttft_ms for attempt in answered if attempt.ttft_ms is not None])
    return {
        "reuse": reuse,
        "ideal": bound.ideal,
        "reuse/ideal": reuse / max(1e-9, bound.ideal),
        "reuse/pooled": reuse / max(1e-9, bound.pooled),
        "metered reuse": 1 - sum(computed) / prompt,
        "lost": report.lost,
        "balance": max(computed) * len(computed) / max(1, sum(computed)),
        "idle": sum(tokens == 0 for tokens in computed),
        "ttft p50": ttft_p50,
        "ttft p90": ttft_p90,
        "failures": len(report.attempts) - len(answered),
        "prefill moves": _moves(report, "prefill"),
        "decode moves": _moves(report, "decode"),
        "seconds": max((attempt.ended_s for attempt in report.attempts), default=0.0),
    }


def after_kill(report: Report) -> Figures:
    """Return what failed in a run in which a worker died: how many requests, of how many sessions, and until when.

    A failure's time is when it was known, in seconds after the worker's death; 0 where nothing failed.
    """
    killed_s = report.killed_s or 0.0
    failed = [attempt for attempt in report.attempts if attempt.error is not None]
    return {
        "failures": len(failed),
        "refused": sum((attempt.error or "").startswith("status") for attempt in failed),
        "sessions": len({attempt.agent for attempt in failed}),
        "last failure": max((attempt.ended_s - killed_s for attempt in failed), default=0.0),
        "slowest": max(map(_waited_s, _requests(report.attempts)), default=0.0),
    }


def _requests(attempts: Sequence[Attempt]) -> list[list[Attempt]]:
    ordered = sorted(attempts, key=lambda attempt: (attempt.agent, attempt.turn, attempt.sent_s))
    return [list(group) for _, group in groupby(ordered, key=lambda attempt: (attempt.agent, attempt.turn))]


def _waited_s(tries: Sequence[Attempt]) -> float:
    """Return how long a request took from the first time it was sent to its first token."""
    return tries[-1].sent_s + (tries[-1].ttft_ms or 0.0) / 1e3 - tries[0].sent_s


def _moves(report: Report, side: str) -> int:
    if report.decisions:
        reasons = report.decisions.get(side, {})
        return sum(count for reason, count in reasons.items() if reason.startswith("moved-"))
    last: dict[int, int] = {}
    moved = 0
    for attempt in report.attempts:
        place = attempt.rank if side == "prefill" else attempt.decoder
        if place is not None:
            moved += last.get(attempt.agent, place) != place
            last[attempt.agent] = place
    return moved
