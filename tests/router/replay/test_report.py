from typing import Any

import msgspec
import pytest

from router.replay.measures import Measures, Served, measure
from router.replay.report import Run, columns, figures, rank_tokens, steady, table


def served(at_s: float, tokens: int = 10, **more: Any) -> Served:
    """A request of 100 tokens that is finished at a time."""
    return Served(0, 0, 100, tokens, at_s * 1e3, finished_ms=at_s * 1e3, **more)


def run(policy: str = "kv", seed: int = 0, spacing_s: float | None = 1.0, **changed: Any) -> Run:
    requests = [served(1.0, ideal_tokens=80, pooled_tokens=50, device_tokens=40, reason="cost")]
    found: Measures = measure(requests, [60, 0], [1, 0], busy_ms=1, stepped_ms=2, gpus=4, moves=0, decode_moves=0)
    return Run(policy, spacing_s, seed, msgspec.structs.replace(found, **changed), 1.5, (60, 0))


def test_steady_counts_what_is_between_the_first_and_the_last_tenth_of_the_tokens() -> None:
    ten_a_second = [served(number) for number in range(1, 101)]
    assert steady(ten_a_second) == pytest.approx(10.0)


def test_a_long_tail_of_one_session_does_not_change_steady() -> None:
    ten_a_second = [served(number) for number in range(1, 101)]
    tail = [served(100 + 1000 * number) for number in range(1, 6)]
    assert steady(ten_a_second + tail) == pytest.approx(10.0)


def test_steady_of_too_little_is_nothing() -> None:
    assert steady([]) == 0.0
    assert steady([served(1.0)]) == 0.0


def test_rank_tokens_are_those_that_were_not_cached() -> None:
    requests = [served(1, rank=1, device_tokens=30, host_tokens=20), served(2, rank=1), served(3, rank=0)]
    assert rank_tokens(requests, 3) == (100, 150, 0)


def test_figures_have_plain_names_and_shares_of_both_bounds() -> None:
    found = figures(run())
    assert found["reuse_ratio"] == pytest.approx(0.4)
    assert found["reuse_of_ideal"] == pytest.approx(0.5)
    assert found["reuse_of_pooled"] == pytest.approx(0.8)
    assert {"wait_p50_ms", "wait_p90_ms", "ttft_p50_ms", "ttft_p90_ms", "itl_p50_ms", "itl_p90_ms"} <= set(found)
    assert all(isinstance(value, int | float) for value in found.values())


def test_reuse_of_nothing_reusable_is_no_division_by_zero() -> None:
    found = figures(run(reuse_ratio=0.0, ideal_reuse_ratio=0.0, pooled_reuse_ratio=0.0))
    assert (found["reuse_of_ideal"], found["reuse_of_pooled"]) == (0.0, 0.0)


def test_seeds_become_a_median_and_a_range() -> None:
    (column,) = columns([run(seed=seed, moves=moves) for seed, moves in enumerate((7, 1, 3))])
    assert column.figures["moves"] == (3, 1, 7)
    assert column.reasons == {"cost": 3}


def test_columns_come_by_load_and_then_by_policy_as_they_ran() -> None:
    runs = [run(policy, seed, load) for seed in (0, 1) for load in (5.0, 1.0) for policy in ("sticky", "kv")]
    found = [(column.spacing_s, column.policy) for column in columns(runs)]
    assert found == [(5.0, "sticky"), (5.0, "kv"), (1.0, "sticky"), (1.0, "kv")]


def test_the_table_shows_a_range_only_where_there_is_one() -> None:
    lines = list(table(columns([run(moves=1, seed=0), run(moves=3, seed=1)])))
    shown = {line[:24].strip(): line[25:].strip() for line in lines}
    assert shown["moves"] == "2 (1-3)"
    assert shown["reuse_ratio"] == "0.400"
    assert shown["requests"] == "1"


def test_the_table_has_a_column_for_each_policy() -> None:
    header, *rows = table(columns([run("sticky"), run("round-robin")]))
    assert header.split() == ["sticky", "round-robin"]
    assert all(len(row.split("  ")) > 1 for row in rows)


def test_device_reuse_has_a_row_only_with_a_host_tier() -> None:
    def labels(found: Run) -> list[str]:
        return [line.strip() for line in table(columns([found])) if "device" in line]

    assert labels(run()) == []
    assert len(labels(run(device_reuse_ratio=0.1))) == 1


def test_reasons_are_told_where_there_are_several() -> None:
    (told,) = (
        line for line in table(columns([run("sticky", reasons={"new": 1, "home": 299}), run()])) if "decided" in line
    )
    assert told == "sticky decided: home 100%, new <1%"
