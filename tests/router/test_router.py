"""The book of requests in flight, and the plain policy."""

import pytest

from router import Fleet, Placement, Router, RouteRequest, Worker, plain

FLEET = Fleet(prefill=(Worker(1, dp_ranks=8),), decode=(Worker(2), Worker(3)))


def request(request_id: str = "r1") -> RouteRequest:
    return RouteRequest(request_id=request_id, model="glm", token_ids=[1, 2, 3])


def test_the_plain_policy_leaves_every_choice_to_dynamo() -> None:
    assert plain(request(), FLEET, 0.0).routing() == {}


def test_a_placement_speaks_dynamos_names_and_keeps_rank_zero() -> None:
    placement = Placement(prefill_worker_id=1, prefill_dp_rank=0, decode_worker_id=2, decode_dp_rank=0)

    assert placement.routing() == {
        "prefill_worker_id": 1,
        "prefill_dp_rank": 0,
        "decode_worker_id": 2,
        "dp_rank": 0,
    }


def test_the_router_asks_its_policy_with_the_fleet_and_the_time() -> None:
    def policy(asked: RouteRequest, fleet: Fleet, now_ms: float) -> Placement:
        assert asked.request_id == "r1"
        assert now_ms == 12.5
        return Placement(decode_worker_id=fleet.decode[1].worker_id, decode_dp_rank=0, reason="test")

    assert Router(policy).place(request(), FLEET, 12.5).decode_worker_id == 3


def test_a_request_is_booked_until_it_ends() -> None:
    router = Router(plain)

    router.place(request(), FLEET, 1.0)
    router.first_token("r1", 5.0)
    router.first_token("r1", 9.0)
    assert router.in_flight == 1
    ticket = router.finish("r1", "cancelled")

    assert (ticket.placed_ms, ticket.first_token_ms) == (1.0, 5.0)
    assert router.in_flight == 0
    assert router.finished == {"stop": 0, "cancelled": 1, "error": 0}


def test_one_id_cannot_be_in_flight_twice() -> None:
    router = Router(plain)
    router.place(request(), FLEET, 0.0)

    with pytest.raises(ValueError, match="already in flight"):
        router.place(request(), FLEET, 0.0)


def test_a_request_cannot_end_twice() -> None:
    router = Router(plain)
    router.place(request(), FLEET, 0.0)
    router.finish("r1", "stop")

    with pytest.raises(KeyError):
        router.finish("r1", "stop")
