"""Several frontends that a replay takes for one."""

from collections.abc import Callable

import pytest

from router import Costs, Fleet, Router, RouteRequest, Sticky, Worker
from router.replay.frontends import Frontends
from router.told import Told

FLEET = Fleet((Worker(0, 2, 500_000),), (Worker(9, 1, 500_000),))


def make(tell: Callable[[Told], None]) -> Router:
    return Router(Sticky(Costs()), tell=tell)


def waiting(router: Router) -> int:
    return sum(book.requests for book in router.prefill.values())


def test_requests_go_to_each_in_turn_and_what_they_tell_arrives_late() -> None:
    both = Frontends(make, late_ms=50.0)
    both.place(RouteRequest("0", session="s", prompt_tokens=1000), FLEET, 100.0)
    both.place(RouteRequest("1", session="t", prompt_tokens=1000), FLEET, 149.0)

    assert [router.in_flight for router in both._routers] == [1, 1]
    assert [waiting(router) for router in both._routers] == [1, 1]
    both.first_token("0", 150.0)
    # One has heard of the other's; that it was computed it has not.
    assert sorted(waiting(router) for router in both._routers) == [0, 2]
    both.finish("0", "stop", 200.0)
    assert [waiting(router) for router in both._routers] == [1, 1]
    both.first_token("1", 300.0)
    both.finish("1", "stop", 350.0)
    assert [waiting(router) for router in both._routers] == [0, 0]


def test_those_that_tell_each_other_nothing_hear_nothing() -> None:
    apart = Frontends(make)
    for number in range(4):
        apart.place(RouteRequest(str(number), session="s", prompt_tokens=1000), FLEET, 1000.0 * number)

    assert [waiting(router) for router in apart._routers] == [2, 2]


@pytest.mark.parametrize("session", ["4", "5"])
def test_a_load_balancer_may_keep_a_session_at_one_of_them(session: str) -> None:
    both = Frontends(make, sticky=True)
    for number in range(3):
        both.place(RouteRequest(str(number), session=session, prompt_tokens=1000), FLEET, 0.0)

    assert [router.in_flight for router in both._routers] == ([3, 0] if session == "4" else [0, 3])
