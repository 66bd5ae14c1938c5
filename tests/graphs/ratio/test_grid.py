import msgspec
import pytest

from graphs.ratio import grid
from graphs.ratio.grid import Point, Ratio, at_ratio, frontier, point, served, sessions_to_try
from graphs.ratio.workload import described
from router.costs import Costs
from router.replay.baselines import router
from router.replay.cluster import Cluster
from router.replay.measures import Measures
from router.replay.simulate import Replay
from router.replay.window import Window
from router.router import Router

WORK = described("turns=5,new=1000,context=10000,output=200,think=5", 40, seed=0)
COSTS = Costs(decode_steps_ms=(5.0, 6.0, 7.0, 8.0))
MEASURES = Window(1, 0, 0, 0, 0, 0, (0, 0), 0, (0, 0), (0, 0), 0, 0)


def at(sessions: int, user: float, gpu: float, flight: float = 0.0, ratio: Ratio | None = None) -> Point:
    measures = msgspec.structs.replace(MEASURES, user_tokens_per_s=user, gpu_tokens_per_s=gpu, in_flight=flight)
    return Point(ratio or Ratio(1, 4), 24, sessions, measures)


def held(sessions: int, **graph: int) -> Point:
    cluster = msgspec.structs.replace(Cluster(), **graph)
    return point(WORK, cluster, COSTS, sessions, stop_s=120, warm_s=40)


def test_requests_in_flight_are_fewer_than_sessions_and_agree_with_their_speed() -> None:
    found = held(30)
    measures = found.measures
    assert (found.ratio.name, found.gpus, found.sessions) == ("1:4", 24, 30)
    assert 0 < measures.decoding < measures.in_flight < 30
    # Little's law: requests under way are those that come in a second times how long each takes.
    assert measures.in_flight == pytest.approx(
        measures.gpu_tokens_per_s * 24 / measures.mean_user_tokens_per_s, rel=0.1
    )


def test_more_sessions_are_slower_for_each_and_more_for_a_gpu() -> None:
    few, many = held(4).measures, held(60).measures
    assert few.user_tokens_per_s > many.user_tokens_per_s
    assert few.gpu_tokens_per_s < many.gpu_tokens_per_s


def test_memory_decides_what_is_found_again() -> None:
    large, small = held(40).measures, held(40, rank_kv_tokens=20_000).measures
    assert large.reuse_ratio > small.reuse_ratio + 0.1


@pytest.mark.parametrize(("sessions", "last_s"), [(5, 2.0), (300, 20.0)])
def test_all_sessions_are_there_before_it_is_measured(
    monkeypatch: pytest.MonkeyPatch, sessions: int, last_s: float
) -> None:
    begun: dict[int, float] = {}

    class Watched(Replay):
        def run(self) -> Measures:
            found = super().run()
            begun.update({each.session: each.arrival_ms for each in [*self.served, *self.unfinished] if not each.turn})
            return found

    monkeypatch.setattr(grid, "Replay", Watched)
    held(sessions)
    assert sorted(begun.values())[sessions - 1] / 1e3 == pytest.approx(last_s, rel=0.01)


def test_the_router_knows_the_host_tier_of_the_ratio(monkeypatch: pytest.MonkeyPatch) -> None:
    known: list[int] = []

    def watched(policy: str, costs: Costs, seed: int) -> Router:
        known.append(costs.host_tokens)
        return router(policy, costs, seed)

    monkeypatch.setattr(grid, "router", watched)
    held(2, host_tokens=64_000)
    assert known == [64_000]


def test_a_ratio_scales_engines_and_the_host_tier() -> None:
    found = at_ratio(Cluster(prefill_engines=1, decode_engines=4, host_tokens=1_000), Ratio(2, 3))
    assert (found.prefill_engines, found.decode_engines, found.host_tokens, found.gpus) == (2, 3, 2_000, 28)


def test_what_is_served_lies_between_the_points_around_the_speed() -> None:
    points = [at(10, 120, 30, 4), at(30, 80, 60, 12), at(60, 20, 90, 40)]
    found = served(points, 50)
    assert (found.sessions, found.gpu_tokens_per_s, found.in_flight, found.more) == (45, 75, 26, False)


def test_what_was_not_tried_is_not_made_up() -> None:
    points = [at(10, 120, 30), at(30, 80, 60)]
    assert (served(points, 70).sessions, served(points, 70).more) == (30, True)
    assert (served(points, 130).sessions, served(points, 130).gpu_tokens_per_s) == (0, 0)


def test_the_frontier_has_what_no_other_point_beats_in_both() -> None:
    points = [at(1, 100, 10), at(2, 90, 8), at(3, 80, 20), at(4, 100, 9), at(5, 10, 20)]
    assert [each.sessions for each in frontier(points)] == [1, 3]


def test_the_sessions_that_are_tried_go_from_a_light_load_to_too_many() -> None:
    assert sessions_to_try(100) == (15, 35, 60, 85, 110, 135)
    assert sessions_to_try(1) == (1,)
