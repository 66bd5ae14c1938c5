"""What the live part says and promises. That it runs is shown by running it: real processes take minutes."""

import pytest

from benchmarks.router.cases import LARGE, SMALL
from benchmarks.router.live import part
from benchmarks.router.live.figures import Figures, after_kill, figures
from benchmarks.router.live.job import Attempt, Report
from benchmarks.router.live.part import Found, met, report
from benchmarks.router.live.slice import take
from benchmarks.router.live.stack import POLICIES
from graphs.errors import Refusal
from router.replay.generator import generate
from router.replay.trace import Session, Trace, Turn

CUT = take(generate(2, 1))


def found(failures: int, last_failure: float) -> Found:
    answered = Attempt(0, 0, 0.0, 1.0, 50.0, None, 100, 40, None, None)
    failed = Attempt(0, 0, 2.0, 3.0, None, "cut off: x", 0, 0, None, None)
    once: Figures = figures(Report([*[failed] * failures, answered], [60] + [0] * 7, 0, {}, None), CUT, LARGE * 8)
    killed = after_kill(Report([failed, answered], [60], 0, {}, 3.0 - last_failure))
    names = [policy.name for policy in POLICIES]
    rounds = {name: [once] for name in names}
    return Found("2 sessions", 0.5, {LARGE: rounds, SMALL: rounds}, {name: [killed] for name in names})


@pytest.mark.parametrize(("failures", "last_failure", "kept"), [(0, 1.9, True), (1, 0.0, False), (0, 2.1, False)])
def test_no_failure_and_a_quick_recovery_are_promised_together(
    failures: int, last_failure: float, *, kept: bool
) -> None:
    assert met(found(failures, last_failure)) is kept


def test_there_is_a_table_for_each_memory_and_one_for_deaths() -> None:
    text = report(found(0, 1.0))

    heads = [line for line in text.splitlines() if line.startswith("|") and "sticky" in line]
    assert [head.split("|")[1].strip() for head in heads] == [
        "768K tokens of KV a rank",
        "256K tokens of KV a rank",
        "a decode worker is killed, 768K",
    ]
    assert "| reuse | 0.400 | 0.400 | 0.400 | 1.00 | 1.00 |" in text
    assert "differ from it by 0.000 at most" in text


def test_a_trace_without_a_prompt_that_fits_is_refused() -> None:
    huge = Trace("huge", 64, (Session("a", (Turn(64 * 10_000, 1, 0.0, 0.0, ((0, 10_000),)),)),))

    with pytest.raises(Refusal, match="huge: no prompt in it fits"):
        part.measure(huge, range(1))
