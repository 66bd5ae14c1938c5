"""Starting prices that are wrong, with the fit and without."""

import statistics

import pytest

from benchmarks.router import prices
from benchmarks.router.cases import cases, replay
from router.costs import Costs
from router.replay.generator import generate
from router.replay.report import columns
from router.replay.select import truncate

TRACE = truncate(generate(70, 4), 6)


def test_a_bandwidth_that_is_too_dear_is_too_low() -> None:
    wrong = prices.wrong(Costs(), ("step_ms", "fetch_gb_s"), 3.0)

    assert (wrong.step_ms, wrong.fetch_gb_s) == pytest.approx((36.0, 20.0 / 3.0))
    assert wrong.prefill_token_us == Costs().prefill_token_us


def test_what_is_expected_comes_true_once_prices_are_fitted() -> None:
    ratios: dict[str, list[float]] = {}
    chosen = {name: make for name, make in prices.variants(ratios).items() if name.startswith("compute x 3")}

    runs = replay(cases(TRACE, 768_000)[0], chosen, (0,))

    assert statistics.median(ratios["compute x 3"]) > 2.0
    assert 0.75 < statistics.median(ratios["compute x 3, fitted"][-50:]) < 1.33
    rows = prices.report([("a load", columns(runs), ratios)]).splitlines()
    assert [row.split(" | ")[1] for row in rows[2:]] == ["compute x 3", "compute x 3, fitted"]


def test_expectations_that_a_fit_makes_worse_are_a_promise_broken() -> None:
    assert prices.met([("a load", (), {"right": [1.0], "right, fitted": [0.9, 1.0, 5.0]})])
    assert prices.met([("a load", (), {"all x 3": [3.0], "all x 3, fitted": [2.5]})])
    assert not prices.met([("a load", (), {"right": [1.0], "right, fitted": [1.3]})])
