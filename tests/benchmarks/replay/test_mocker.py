"""Dynamo's own replay and its timing."""

import pytest

from benchmarks.replay import loads, mocker
from router.replay.generator import generate
from router.replay.select import truncate

LOAD = loads.sessions(truncate(generate(6, 2), 8), 6)


def test_the_timing_is_the_mockers() -> None:
    costs = mocker.MockerCosts(step_ms=16.50142 / 8, request_tokens=64_010.0, decode_tokens=65_536 * 64)

    # As Dynamo's replay showed for one prompt of 16,384 tokens, and for one answer after 64,000.
    assert costs.prefill_ms(16_384, 100_000) + costs.step_ms == pytest.approx(47.2847, abs=1e-3)
    assert costs.decode_ms(1) == pytest.approx(6.558, abs=1e-2)
    assert costs.move_ms(100_000) == 0.0


def test_dynamos_replay_runs_a_load_and_reuses_no_more_than_there_is() -> None:
    figures = mocker.replay(LOAD, mocker.cluster(768_000, LOAD.block_size), "kv")

    assert 0.5 < figures.reuse_ratio < 1.0
    assert 1.0 <= figures.rank_load_max_over_mean <= 8.0


def test_a_prompt_that_is_refused_is_no_figure() -> None:
    with pytest.raises(RuntimeError, match="rejected"):
        mocker.replay(LOAD, mocker.cluster(20_000, LOAD.block_size), "kv")
