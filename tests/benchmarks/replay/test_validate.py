"""Our replay beside Dynamo's own."""

import pytest

from benchmarks.replay import loads, mocker
from benchmarks.replay.figures import Figures
from benchmarks.replay.validate import Comparison, compare_load, table
from router.replay.generator import generate
from router.replay.select import truncate

LOAD = loads.fitting(loads.pressure(truncate(generate(12, 2), 8), 12), 768_000)


@pytest.mark.parametrize("tokens", [768_000, 128_000])
def test_with_nothing_left_to_chance_both_come_to_exactly_the_same(tokens: int) -> None:
    load = loads.one_at_a_time(loads.fitting(LOAD, tokens))

    comparison = compare_load(load, mocker.cluster(tokens, load.block_size), "round-robin", 1)

    assert comparison.ours == comparison.dynamos


def test_kv_piles_up_alike_in_both() -> None:
    load = loads.one_at_a_time(LOAD)

    comparison = compare_load(load, mocker.cluster(768_000, load.block_size), "kv", 1)

    assert comparison.reuse_differs_by < 0.001
    assert comparison.balance_differs_by < 0.01


def figures(*pairs: tuple[float, float]) -> list[Figures]:
    return [Figures(reuse, balance) for reuse, balance in pairs]


def test_medians_agree_or_not() -> None:
    def agrees(reuse: float, balance: float) -> bool:
        ours = figures((0.8, 1.5), (reuse, balance), (0.8, 1.5))
        one = [Figures(reuse, balance)]
        return Comparison("l", 1, 1000, "kv", ours, one).agrees

    assert agrees(0.815, 1.6)
    assert not agrees(0.83, 1.6)
    assert not agrees(0.815, 1.7)


def test_the_table_says_medians_and_ranges() -> None:
    runs = figures((0.7, 1.5), (0.8, 1.6), (0.9, 1.9))

    row = table([Comparison("sessions", 1481, 768_000, "kv", runs, figures((0.8, 1.7)))]).splitlines()[-1]

    assert (
        row
        == "| sessions, 1,481 requests | 768K | kv | 0.800 (0.700-0.900) | 0.800 | 1.600 (1.500-1.900) | 1.700 | yes |"
    )
