"""What is promised of reuse and balance."""

import pytest

from benchmarks.router.cases import LARGE, SMALL, cases
from benchmarks.router.targets import reached
from router.replay.generator import generate

TRACE = generate(16, 1)


@pytest.mark.parametrize(
    ("rank_kv_tokens", "of_pooled", "balance", "idle", "kept"),
    [
        (LARGE, 0.97, 1.1, 0, True),
        (LARGE, 0.95, 1.1, 0, False),
        (SMALL, 0.71, 1.15, 0, True),
        (SMALL, 0.69, 1.1, 0, False),
        (LARGE, 0.97, 1.16, 0, False),
        (LARGE, 0.97, 1.1, 1, False),
    ],
)
def test_reuse_balance_and_no_idle_rank_are_promised_together(
    rank_kv_tokens: int, of_pooled: float, balance: float, idle: int, *, kept: bool
) -> None:
    case = cases(TRACE, rank_kv_tokens)[0]
    figures = {"reuse_of_pooled": of_pooled, "rank_load_max_over_mean": balance, "idle_ranks": float(idle)}

    assert reached(case, {name: (value, value, value) for name, value in figures.items()}) is kept
