import pytest

from benchmarks.pareto.deployment import ITL_SESSIONS, READINGS, Run, replay
from benchmarks.pareto.predict import Prediction, fit, sensitivities
from benchmarks.pareto.table import report
from graphs.ratio.measured import Measured
from graphs.ratio.workload import described

TRACE = described("turns=20,new=900,context=20000,output=300,think=5", 80, seed=0)
SHORT = (90.0, 30.0)


def test_the_fit_gives_the_itl_that_was_published() -> None:
    fitted, decoding = fit(TRACE, Run(Measured(), None, sessions=ITL_SESSIONS), *SHORT)
    found = replay(TRACE, Run(fitted, None, sessions=ITL_SESSIONS), *SHORT).measures
    assert found.itl_ms[0] == pytest.approx(6.08, rel=0.04)
    assert 0 < decoding == pytest.approx(found.decoding, rel=0.2)


def test_the_published_graph_has_24_gpus_and_its_own_budget() -> None:
    found = replay(TRACE, Run(Measured(), None), *SHORT)
    assert (found.ratio.name, found.gpus, found.sessions) == ("1:4", 24, 66)


def test_each_reading_of_the_chunk_takes_as_long_as_was_published() -> None:
    alone, pair, half = READINGS.values()
    assert (alone.chunk_ms, alone.chunk_tokens) == (678, 8_192)
    # 138 ms and 4,096 tokens of the others.
    assert pair.step_ms + (pair.chunk_ms - pair.step_ms) / 2 == 408
    assert (half.chunk_ms, half.chunk_tokens) == (678, 4_096)


def test_the_table_compares_with_what_was_published() -> None:
    point = replay(TRACE, Run(Measured(), None), *SHORT)
    text = report([Prediction("a reading", 2.0, 1.5, 4.0, (point,), (point,))], [("as fitted", point)], 2.0)
    user = point.measures.user_tokens_per_s
    assert f"| a reading | 2, 1.5 | 4.0 | {user:.0f} ({user:.0f}-{user:.0f}) | {user / 101 - 1:+.0%} |" in text
    assert "| as fitted |" in text


def test_longer_steps_slow_users_down() -> None:
    found = {name: each.measures.user_tokens_per_s for name, each in sensitivities(TRACE, Measured(), 10.0, *SHORT)}
    assert next(iter(found)) == "as fitted"
    assert len(found) == 8
    assert max(found["itl-ms"], found["chunk-ms"]) < found["as fitted"]
