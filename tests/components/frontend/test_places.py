"""The placements of several models."""

from typing import Any, cast

from prometheus_client import CollectorRegistry

from components.frontend.limits import LimitedRequest
from components.frontend.places import Places
from components.frontend.router_metrics import RouterMetrics

ANSWERING = ("dynamo", "backend", "generate")


async def test_a_model_keeps_its_books_when_its_workers_come_again_and_streams_are_shared() -> None:
    places = Places("plain", "prefill", RouterMetrics(CollectorRegistry()))
    runtime = cast("Any", None)  # The plain policy watches nobody.
    first = await places.of("one", runtime, ANSWERING)
    other = await places.of("two", runtime, ANSWERING)
    await first.place(LimitedRequest("1"), [])
    await other.place(LimitedRequest("1"), [])

    assert await places.of("one", runtime, ANSWERING) is first
    assert [place.model for place in places] == ["one", "two"]
    assert (first.streams(), other.streams(), first.router.in_flight) == (2, 2, 1)
