"""A request that is placed, placed again where its workers fail, and booked until it ends."""

import asyncio
import socket
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from dynamo.llm.exceptions import HttpError, InvalidArgument
from prometheus_client import CollectorRegistry

from components.frontend.discovery import Card, Runtime
from components.frontend.fleet import Roster
from components.frontend.flight import Flight
from components.frontend.health import Health
from components.frontend.limits import Limited, LimitedRequest, Pin, Pins
from components.frontend.outputs import EngineFailedError
from components.frontend.pairs import Prompt
from components.frontend.placing import Placing
from components.frontend.request import Json
from components.frontend.router_metrics import RouterMetrics
from components.frontend.usage import TokenCounter
from router import Costs, Router, Sticky

TOKENS = np.arange(1000, dtype=np.uint32)
PROMPT = Prompt(TOKENS)
BROKEN = ValueError("Unavailable: Stream ended before generation completed")
INTERNAL = Exception("Internal: boom")
NONE_LEFT = Exception("no endpoints available to route work")


class Workers:
    """Discovery of workers that listen, or do not."""

    def __init__(self, card: Card, addresses: dict[int, str]) -> None:
        self._card, self._addresses = card, addresses

    def ids(self) -> tuple[int, ...]:
        return tuple(self._addresses)

    def cards(self) -> dict[int, Card]:
        return dict.fromkeys(self._addresses, self._card)

    def addresses(self) -> dict[int, str]:
        return self._addresses


class Item:
    """An output as Dynamo wraps it."""

    def __init__(self, data: Json) -> None:
        self._data = data

    def is_error(self) -> bool:
        return False

    def comments(self) -> list[str] | None:
        return None

    def data(self) -> Json | None:
        return self._data


class Stream:
    """A stream of these outputs, or errors."""

    def __init__(self, script: list[Json | Exception]) -> None:
        self._script = list(script)

    def __anext__(self) -> "asyncio.Future[Any]":
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        step = self._script.pop(0) if self._script else StopAsyncIteration()
        if isinstance(step, Exception):
            # As compiled streams do; a future of Python's refuses a StopIteration only.
            future.set_exception(step)
        else:
            future.set_result(Item(step))
        return future


class Routed:
    """Dynamo's routed engine at its boundary: each attempt raises, or streams what the script says."""

    def __init__(self, *attempts: Exception | list[Json | Exception]) -> None:
        self._attempts = list(attempts)
        self.routings: list[dict[str, int]] = []

    async def generate(self, request: Json, *, context: Any) -> Stream:  # noqa: ARG002 - the boundary's name
        self.routings.append(request["routing"])
        attempt = self._attempts.pop(0)
        if isinstance(attempt, Exception):
            raise attempt
        return Stream(attempt)


class Context:
    """A request's context."""

    stopped = False

    def id(self) -> str:
        return "r"


@pytest.fixture
def listening() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture
def silent() -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return f"127.0.0.1:{port}"


def placing(prefill: dict[int, str], decode: dict[int, str], registry: CollectorRegistry | None = None) -> Placing:
    card = Card("glm", "prefill", 64, Runtime(10_000, 2))
    other = Card("glm", "decode", 64, Runtime(10_000))
    roster = Roster("glm", Workers(card, prefill), Workers(other, decode), Health())
    return Placing("glm", Router(Limited(Sticky(Costs()))), RouterMetrics(registry or CollectorRegistry()), roster)


def flight(place: Placing, context: Context | None = None, pins: Pins | None = None) -> Flight:
    request = LimitedRequest("1", "glm", "s", len(TOKENS), pins=pins or Pins())
    return Flight(place, request, lambda: (context or Context()).stopped)


async def start(going: Flight, routed: Routed) -> list[Json]:
    outputs, first = await going.start(routed, {"token_ids": TOKENS.tobytes()}, PROMPT, Context())
    outputs.close()
    return first


TOKEN: Json = {"token_ids": [5]}


async def test_the_first_token_is_booked_and_the_end_too(listening: str) -> None:
    place = placing({1: listening}, {2: listening})
    going, routed = flight(place), Routed([TOKEN])

    assert await start(going, routed) == [TOKEN]
    rank, decoder = place.router.sessions["s"].prefill, next(iter(place.router.decode))
    assert routed.routings == [
        {"prefill_worker_id": 1, "prefill_dp_rank": rank and rank.dp_rank, "decode_worker_id": 2, "dp_rank": 0}
    ]
    assert (place.router.in_flight, place.router.decode[decoder].requests) == (1, 1)
    going.finish(TokenCounter(len(TOKENS), None), finished=True)
    going.finish(TokenCounter(len(TOKENS), None), finished=True)
    assert (place.router.in_flight, place.router.finished["stop"]) == (0, 1)


async def settled(place: Placing) -> dict[str, int]:
    """Let the session have a turn; where it went."""
    routed = Routed([TOKEN])
    going = flight(place)
    await start(going, routed)
    going.finish(TokenCounter(len(TOKENS), None), finished=True)
    return routed.routings[0]


@pytest.mark.parametrize("error", [NONE_LEFT, INTERNAL])
async def test_a_failure_before_the_first_token_is_placed_elsewhere(
    error: Exception, listening: str, silent: str
) -> None:
    decode = {2: listening, 3: listening}
    place = placing({1: listening}, decode)
    home = (await settled(place))["decode_worker_id"]
    decode[home] = silent
    routed = Routed(error, [TOKEN])

    assert await start(flight(place), routed) == [TOKEN]

    assert [routing["decode_worker_id"] for routing in routed.routings] == [home, 5 - home]
    assert routed.routings[0]["prefill_dp_rank"] == routed.routings[1]["prefill_dp_rank"]
    assert place.roster is not None
    assert place.roster.health.excluded[home].why == "unreachable"
    assert place.router.in_flight == 1


async def test_a_dead_prefill_worker_loses_its_sessions(listening: str, silent: str) -> None:
    prefill = {1: listening, 4: listening}
    place = placing(prefill, {2: listening})
    home = (await settled(place))["prefill_worker_id"]
    prefill[home] = silent
    routed = Routed(NONE_LEFT, [TOKEN])

    await start(flight(place), routed)

    assert [routing["prefill_worker_id"] for routing in routed.routings] == [home, 5 - home]
    assert {rank.worker_id for rank in place.router.prefill} == {5 - home}
    moved = place.router.sessions["s"].prefill
    assert moved is not None
    assert moved.worker_id == 5 - home


async def test_a_stream_that_breaks_before_the_first_token_accuses_the_decode_worker(listening: str) -> None:
    place = placing({1: listening}, {2: listening, 3: listening})
    routed = Routed([BROKEN], [TOKEN])

    assert await start(flight(place), routed) == [TOKEN]

    first, second = (routing["decode_worker_id"] for routing in routed.routings)
    assert place.roster is not None
    assert list(place.roster.health.excluded) == [first]
    assert second != first
    assert routed.routings[0]["prefill_worker_id"] == routed.routings[1]["prefill_worker_id"]


async def test_a_request_is_placed_again_once_only(listening: str) -> None:
    place = placing({1: listening}, {2: listening, 3: listening})
    routed = Routed(NONE_LEFT, NONE_LEFT)

    with pytest.raises(HttpError) as told:
        await start(flight(place), routed)

    assert told.value.code == 503
    assert len(routed.routings) == 2
    assert (place.router.in_flight, place.router.finished["error"]) == (0, 2)


@pytest.mark.parametrize("error", [InvalidArgument("too long"), ValueError("Cancelled: x")])
async def test_a_refusal_is_not_placed_again(error: Exception, listening: str) -> None:
    place = placing({1: listening}, {2: listening, 3: listening})
    routed = Routed(error)

    with pytest.raises((InvalidArgument, RuntimeError)):
        await start(flight(place), routed)

    assert len(routed.routings) == 1
    assert place.roster is not None
    assert not place.roster.health.excluded


async def test_a_pinned_request_stays_where_its_client_wants_it(listening: str) -> None:
    place = placing({1: listening}, {2: listening, 3: listening})
    routed = Routed(NONE_LEFT)

    with pytest.raises(HttpError):
        await start(flight(place, pins=Pins(decode=Pin(3, 0))), routed)

    assert [routing["decode_worker_id"] for routing in routed.routings] == [3]


async def test_nothing_is_placed_again_for_a_client_that_has_gone(listening: str) -> None:
    place, context = placing({1: listening}, {2: listening, 3: listening}), Context()
    context.stopped = True

    with pytest.raises(HttpError):
        await start(flight(place, context), routed := Routed(NONE_LEFT))

    assert len(routed.routings) == 1
    assert place.router.finished["cancelled"] == 1


async def test_an_engine_that_ends_with_an_error_before_its_first_token_has_failed(listening: str) -> None:
    place = placing({1: listening}, {2: listening, 3: listening})
    routed = Routed([{"token_ids": [], "finish_reason": {"error": "dead"}}], [TOKEN])

    assert await start(flight(place), routed) == [TOKEN]


async def test_a_stream_that_breaks_later_is_told_and_its_worker_is_out(listening: str) -> None:
    place = placing({1: listening}, {2: listening, 3: listening})
    routed = Routed([TOKEN, BROKEN])
    going = flight(place)
    outputs, _ = await going.start(routed, {"token_ids": TOKENS.tobytes()}, PROMPT, Context())

    with pytest.raises(ValueError, match="Stream ended") as broken:
        await outputs.take()
    told = await going.broken(broken.value)
    going.finish(TokenCounter(len(TOKENS), None), finished=False)

    assert isinstance(told, HttpError)
    assert told.code == 503
    assert place.roster is not None
    assert list(place.roster.health.excluded) == [routed.routings[0]["decode_worker_id"]]
    assert (len(routed.routings), place.router.finished["error"]) == (1, 1)


async def test_failures_that_name_nobody_put_a_worker_out_when_they_come_in_a_row(listening: str) -> None:
    registry = CollectorRegistry()
    place = placing({1: listening}, {2: listening}, registry)
    assert place.roster is not None
    for failures in (2, 3):
        for _ in range(failures):
            assert not place.roster.health.excluded
            with pytest.raises(EngineFailedError):
                await start(flight(place), Routed([], []))
        if failures == 2:
            await settled(place)

    out = {"model": "glm", "why": "failing"}
    assert registry.get_sample_value("dynamo_glm_router_exclusions_total", out) == 1
