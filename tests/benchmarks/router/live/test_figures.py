"""One run's figures."""

import pytest

from benchmarks.router.live.figures import after_kill, figures
from benchmarks.router.live.job import Attempt, Report
from benchmarks.router.live.slice import take
from router.replay.trace import Session, Trace, Turn

CUT = take(
    Trace(
        "t",
        64,
        (
            Session("a", (Turn(256, 1, 0.0, 0.0, ((0, 4),)), Turn(512, 1, 0.0, 0.0, ((0, 8),)))),
            Session("b", (Turn(256, 1, 0.0, 0.0, ((50, 4),)),)),
        ),
    )
)


def attempt(agent: int, turn: int, sent_s: float, cached: int = 0, error: str | None = None, **place: int) -> Attempt:
    prompt = 0 if error else CUT.sessions[agent].turns[turn].input_tokens // 8
    ttft_ms = None if error else 100.0 * (turn + 1)
    return Attempt(
        agent, turn, sent_s, sent_s + 1, ttft_ms, error, prompt, cached, place.get("rank"), place.get("decoder")
    )


def test_reuse_balance_and_moves_are_added_up() -> None:
    attempts = [
        attempt(0, 0, 0.0, rank=1, decoder=7),
        attempt(1, 0, 0.1, rank=0, decoder=7),
        attempt(0, 1, 2.0, 16, rank=1, decoder=8),
    ]

    found = figures(Report(attempts, [32, 80, 0, 0], 0, {}, None), CUT, 1 << 40)

    assert found["reuse"] == 16 / 128
    assert found["ideal"] == 4 / 16
    assert found["reuse/ideal"] == 0.5
    assert found["metered reuse"] == 16 / 128
    assert found["balance"] == pytest.approx(80 / 28)
    assert found["idle"] == 2
    assert (found["ttft p50"], found["ttft p90"]) == (100.0, 200.0)
    assert (found["prefill moves"], found["decode moves"], found["failures"]) == (0, 1, 0)


def test_our_frontend_counts_its_moves_itself() -> None:
    decided = {"prefill": {"new": 2, "home": 1}, "decode": {"new": 2, "moved-wait": 1, "moved-move": 3}}

    found = figures(Report([attempt(0, 0, 0.0)], [32], 0, decided, None), CUT, 1 << 40)

    assert (found["prefill moves"], found["decode moves"]) == (0, 4)


def test_failures_after_a_death_are_counted_from_it() -> None:
    attempts = [
        attempt(0, 0, 0.0),
        attempt(1, 0, 3.0, error="cut off: x"),
        attempt(0, 1, 4.0, error="status 503: x"),
        attempt(1, 0, 4.5, error="status 503: x"),
        attempt(0, 1, 6.0),
        attempt(1, 0, 6.5),
    ]

    assert after_kill(Report(attempts, [32], 0, {}, 3.5)) == {
        "failures": 3,
        "refused": 2,
        "sessions": 2,
        "last failure": 2.0,
        "slowest": pytest.approx(3.6),
    }


def test_a_death_that_nobody_notices_has_no_last_failure() -> None:
    found = after_kill(Report([attempt(0, 0, 0.0)], [32], 0, {}, 0.5))

    assert (found["failures"], found["last failure"]) == (0, 0.0)
    assert found["slowest"] == pytest.approx(0.1)
