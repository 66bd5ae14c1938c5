"""What is promised with a host tier."""

import pytest

from benchmarks.router.cases import HOST_TOKENS, SMALL, cases
from benchmarks.router.host import met
from router.replay.generator import generate
from router.replay.report import Column, Range

CASE = cases(generate(16, 1), SMALL, HOST_TOKENS)[0]


def column(policy: str, reuse: float, ttft_ms: float) -> Column:
    figures = {"reuse_ratio": reuse, "ttft_p90_ms": ttft_ms}
    return Column(policy, 0.7, {name: Range(value, value, value) for name, value in figures.items()}, {})


@pytest.mark.parametrize(
    ("reuse", "ttft_ms", "kept"), [(0.94, 500.0, True), (0.92, 500.0, False), (0.94, 501.0, False)]
)
def test_reuse_and_half_of_kvs_time_are_promised(reuse: float, ttft_ms: float, *, kept: bool) -> None:
    assert met([(CASE, [column("sticky", reuse, ttft_ms), column("kv", 0.9, 1000.0)])]) is kept
