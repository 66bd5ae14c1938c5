"""What a client pins wins, and where a request failed it does not go again."""

import pytest

from components.frontend.limits import Limited, LimitedRequest, Pin, Pins
from router import Costs, Fleet, Rank, Router, RouteRequest, Sticky, Worker

FLEET = Fleet((Worker(1, 4, 10**6), Worker(2, 4, 10**6)), (Worker(5, 1, 10**6), Worker(6, 1, 10**6)))


def place(**limits: object) -> tuple[tuple[Rank | None, str], tuple[Rank | None, str], Router]:
    router = Router(Limited(Sticky(Costs())))
    request = LimitedRequest("r", "glm", "s", 1000, **limits)  # type: ignore[arg-type]
    decision = router.place(request, FLEET, 0.0)
    prefill, decode = decision.prefill, decision.decode
    return (prefill.rank, prefill.reason), (decode.rank, decode.reason), router


def test_a_request_without_limits_is_the_policys() -> None:
    free = Router(Sticky(Costs())).place(RouteRequest("r", "glm", "s", 1000), FLEET, 0.0)
    prefill, decode, _ = place()

    assert (prefill, decode) == ((free.prefill.rank, "new"), (free.decode.rank, "new"))


def test_a_pinned_place_is_chosen_and_booked() -> None:
    prefill, decode, router = place(pins=Pins(Pin(2, 3), Pin(6, 0)))

    assert (prefill, decode) == ((Rank(2, 3), "pinned"), (Rank(6), "pinned"))
    assert router.prefill[Rank(2, 3)].waiting_tokens == 1000
    assert router.decode[Rank(6)].requests == 1


@pytest.mark.parametrize(("pin", "worker", "rank"), [(Pin(2), 2, None), (Pin(dp_rank=3), None, 3)])
def test_the_policy_chooses_what_a_pin_leaves_open(pin: Pin, worker: int | None, rank: int | None) -> None:
    (chosen, reason), _, _ = place(pins=Pins(prefill=pin))

    assert chosen is not None
    assert (reason, worker or chosen.worker_id) == ("pinned", chosen.worker_id)
    assert rank in {None, chosen.dp_rank}


def test_a_pin_to_an_unknown_worker_books_nothing() -> None:
    (chosen, reason), _, router = place(pins=Pins(prefill=Pin(99, 0)))

    assert (chosen, reason) == (None, "pinned")
    assert not any(book.requests for book in router.prefill.values())


def test_a_request_does_not_go_where_it_failed() -> None:
    prefill, decode, _ = place(avoid=frozenset({1, 5}))

    assert prefill[0] is not None
    assert (prefill[0].worker_id, prefill[1], decode) == (2, "avoided", (Rank(6), "avoided"))


def test_a_side_with_no_other_worker_is_left_to_dynamo() -> None:
    prefill, _, _ = place(avoid=frozenset({1, 2}))

    assert prefill == (None, "avoided")


def test_pins_are_passed_on_as_they_came() -> None:
    assert Pins(Pin(5, 0), Pin(7)).routing() == {"prefill_worker_id": 5, "prefill_dp_rank": 0, "decode_worker_id": 7}
    assert (Pins().routing(), bool(Pins()), bool(Pins(Pin(dp_rank=0)))) == ({}, False, True)
