"""The placements of several models."""

from typing import Any, cast

import numpy as np
from prometheus_client import CollectorRegistry

from components.frontend.limits import LimitedRequest
from components.frontend.pairs import Prompt
from components.frontend.places import Places
from components.frontend.router_metrics import RouterMetrics
from router import Fleet, Rank, Worker
from router.told import Booked

NO_TOKENS = Prompt(np.empty(0, np.uint32))
ANSWERING = ("dynamo", "backend", "generate")


async def test_a_model_keeps_its_books_when_its_workers_come_again_and_streams_are_shared() -> None:
    places = Places("plain", "prefill", RouterMetrics(CollectorRegistry()))
    runtime = cast("Any", None)  # The plain policy watches nobody.
    first = await places.of("one", runtime, ANSWERING)
    other = await places.of("two", runtime, ANSWERING)
    await first.place(LimitedRequest("1"), NO_TOKENS)
    await other.place(LimitedRequest("1"), NO_TOKENS)

    assert await places.of("one", runtime, ANSWERING) is first
    assert [place.model for place in places] == ["one", "two"]
    assert (first.streams(), other.streams(), first.router.in_flight) == (2, 2, 1)


def test_what_a_store_holds_is_counted_on_where_the_index_reports_nothing() -> None:
    router = Places("sticky", "prefill", RouterMetrics(CollectorRegistry()), host_tokens=1_000_000).router()
    fleet = Fleet((Worker(1, 2, 100_000),), (Worker(9),))
    for number in ("1", "2"):
        router.place(LimitedRequest(number, session="s", prompt_tokens=64_000), fleet, 0.0)
        overlaps = router.ticket(number).request.overlaps
        router.first_token(number, 1.0)
        router.finish(number, "stop", 2.0)

    assert {rank: overlap.host for rank, overlap in overlaps.items()} == {Rank(1, 0): 64_000, Rank(1, 1): 64_000}
    assert router.costs.host_tokens == 1_000_000


async def test_frontends_that_exchange_nothing_have_nothing_to_leave() -> None:
    places = Places("plain", "prefill", RouterMetrics(CollectorRegistry()))
    await places.of("one", cast("Any", None), ANSWERING)

    await places.close()

    assert [place.model for place in places] == ["one"]


async def test_what_is_told_of_a_model_goes_to_its_books_and_to_no_other() -> None:
    places = Places("plain", "prefill", RouterMetrics(CollectorRegistry()))
    place = await places.of("one", cast("Any", None), ANSWERING)

    for model in ("one", "another"):
        places._hear("7", model, Booked("r", "s", 100, 100))
    assert place.peers.in_flight == 1
    places._lost("7")

    assert place.peers.in_flight == 0
