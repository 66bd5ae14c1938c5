import importlib
import time

import pytest

from benchmarks.frontend.profiled import GENERATE, STAGES, Clock


@pytest.mark.parametrize("place", STAGES.values())
def test_every_stage_exists_in_the_frontend(place: str) -> None:
    module, _, path = place.partition(":")
    owner = importlib.import_module(module)
    for part in path.split("."):
        owner = getattr(owner, part)
    assert callable(owner)


def spin(seconds: float) -> None:
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        pass


def test_a_stage_does_not_count_the_stages_inside_it() -> None:
    clock = Clock()
    inner = clock.around("inner", spin)

    def outer() -> str:
        inner(0.02)
        inner(0.02)
        spin(0.01)
        return "said"

    assert clock.around("outer", outer)() == "said"
    assert (clock.stages["outer"].calls, clock.stages["inner"].calls) == (1, 2)
    assert clock.stages["inner"].ns >= 40e6
    assert 10e6 <= clock.stages["outer"].ns < clock.stages["inner"].ns


def test_a_stage_that_fails_is_counted_and_its_error_passed_on() -> None:
    clock = Clock()
    with pytest.raises(ValueError, match="bad"):
        clock.around("stage", lambda: int("bad"))()
    assert clock.stages["stage"].calls == 1


def test_the_hand_over_to_rust_is_timed_in_place() -> None:
    class Routed:
        def generate(self, request: str) -> str:
            return f"stream of {request}"

    class Engine:
        def __init__(self, _model: None, routed: Routed, _router: None) -> None:
            self.routed = routed

    clock = Clock()
    engine = Engine(None, Routed(), None)
    clock.around_generate(Engine.__init__)(engine, None, Routed(), None)
    assert engine.routed.generate("a") == "stream of a"
    assert clock.stages[GENERATE].calls == 1
