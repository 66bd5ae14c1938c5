"""The policy without one of its terms."""

import pytest

from benchmarks.router.ablation import VARIANTS
from benchmarks.router.cases import cases, replay
from router.replay.generator import generate
from router.replay.select import truncate

TRACE = truncate(generate(70, 4), 6)


@pytest.mark.parametrize("name", [name for name in VARIANTS if name != "sticky"])
def test_each_variant_decides_otherwise(name: str) -> None:
    case = cases(TRACE, 150_000)[0]

    whole, without = replay(case, {"sticky": VARIANTS["sticky"], name: VARIANTS[name]}, (0,))

    assert whole.measures != without.measures
