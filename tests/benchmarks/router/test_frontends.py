"""Several frontends beside one."""

import pytest

from benchmarks.router.cases import cases, replay
from benchmarks.router.frontends import ROUTERS
from router.replay.generator import generate
from router.replay.select import truncate

TRACE = truncate(generate(70, 4), 4)


@pytest.mark.parametrize("name", [name for name in ROUTERS if name != "one"])
def test_all_requests_are_served_and_none_stays_in_flight(name: str) -> None:
    case = cases(TRACE, 150_000)[0]

    one, several = replay(case, {"one": ROUTERS["one"], name: ROUTERS[name]}, (0,))

    assert several.measures.requests == one.measures.requests
    assert several.measures != one.measures
