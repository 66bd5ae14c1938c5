"""Frontends that tell each other what they place."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, cast

import pytest

from components.frontend import exchange
from components.frontend.exchange import MOST_UNREAD, Exchange
from router import Rank
from router.told import Booked, Computed, Left, Told

BOOKED = Booked("r1", "s", 50_000, 1000, Rank(2**64 - 1, 5), Rank(2**63, 0))


class Item:
    """An annotated item of Dynamo's stream."""

    def __init__(self, data: dict[str, str]) -> None:
        self._data = data

    def data(self) -> dict[str, str]:
        return self._data


class Context:
    def __init__(self) -> None:
        self.stopped = False

    def is_stopped(self) -> bool:
        return self.stopped


class Network:
    """Discovery and request plane between the frontends of one test; `tests/live` has the real ones."""

    def __init__(self) -> None:
        self.served: dict[int, Callable[..., AsyncIterator[dict[str, str]]]] = {}
        self.cut: set[int] = set()
        self.silent: set[int] = set()

    def instance_ids(self) -> list[int]:
        return list(self.served)

    async def direct(self, _request: Any, peer: int) -> AsyncIterator[Item]:
        if peer in self.cut:
            raise ConnectionError("nobody listens")
        return self._stream(peer)

    async def _stream(self, peer: int) -> AsyncIterator[Item]:
        async for sent in self.served[peer](None, Context()):
            if peer in self.cut:
                raise ConnectionError("the connection is lost")
            if peer in self.silent:
                await asyncio.Event().wait()
            yield Item(sent)

    def endpoint(self, own_id: int) -> Any:
        return Point(self, own_id)


class Point:
    """The endpoint, as one frontend has it."""

    def __init__(self, network: Network, own_id: int) -> None:
        self._network, self._own_id = network, own_id

    def connection_id(self) -> int:
        return self._own_id

    async def client(self) -> Network:
        return self._network

    def serve_endpoint(self, handler: Any, *, graceful_shutdown: bool) -> Awaitable[None]:
        assert not graceful_shutdown  # A stream that never ends would hold up the end of the process.
        self._network.served[self._own_id] = handler
        return asyncio.get_running_loop().create_future()


class Heard:
    """One frontend, and what it heard."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, str, Told]] = []
        self.lost: list[str] = []
        self.exchange = Exchange(lambda *said: self.heard.append(said), self.lost.append)


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> Network:
    monkeypatch.setattr(exchange, "LOOK_S", 0.01)
    monkeypatch.setattr(exchange, "SIGN_OF_LIFE_S", 0.02)
    monkeypatch.setattr(exchange, "SILENCE_S", 0.2)
    return Network()


async def until(true: Callable[[], object]) -> None:
    async with asyncio.timeout(10):
        while not true():  # noqa: ASYNC110 - what is waited for has no event.
            await asyncio.sleep(0.005)


Start = Callable[..., Awaitable[list[Heard]]]


@pytest.fixture
async def start(network: Network) -> AsyncIterator[Start]:
    frontends: list[Heard] = []

    async def started(*ids: int) -> list[Heard]:
        for own_id in ids:
            frontends.append(Heard())
            await frontends[-1].exchange.start(network.endpoint(own_id))
        await until(lambda: all(len(each.exchange.peers) == len(ids) - 1 for each in frontends))
        return frontends

    yield started
    for each in frontends:
        await each.exchange.stop()


async def test_all_others_hear_it_in_order_and_the_teller_does_not(start: Start) -> None:
    first, second, third = await start(1, 2, 3)
    told: list[Told] = [BOOKED, Computed("r1"), Left("r1", 300, 49_000)]

    for each in told:
        first.exchange.tell("glm", each)
    await until(lambda: len(second.heard) == len(third.heard) == 3)

    assert second.heard == third.heard == [("1", "glm", each) for each in told]
    assert first.heard == []


async def test_a_frontend_that_is_lost_is_said_to_be_and_found_again(network: Network, start: Start) -> None:
    first, second = await start(1, 2)

    network.cut.add(1)
    await until(lambda: "1" in second.lost)
    assert second.exchange.peers == set()
    network.cut.discard(1)
    await until(lambda: second.exchange.peers == {"1"})

    first.exchange.tell("glm", BOOKED)
    await until(lambda: second.heard)
    assert second.heard == [("1", "glm", BOOKED)]


async def test_a_frontend_that_falls_silent_is_lost(network: Network, start: Start) -> None:
    _, second = await start(1, 2)

    network.silent.add(1)

    await until(lambda: "1" in second.lost)


async def test_a_frontend_that_leaves_discovery_is_lost(network: Network, start: Start) -> None:
    _, second = await start(1, 2)

    del network.served[1]

    await until(lambda: "1" in second.lost)
    await until(lambda: second.exchange.peers == set())


async def test_a_frontend_that_stops_ends_its_streams(start: Start) -> None:
    first, second = await start(1, 2)

    await first.exchange.stop()

    await until(lambda: "1" in second.lost)
    assert not first.exchange._outboxes
    assert first.lost == ["2"]


async def test_a_listener_that_does_not_read_is_let_go() -> None:
    teller = Heard()
    stream = teller.exchange.stream(None, Context())
    reading = asyncio.ensure_future(cast("Any", anext(stream)))
    await asyncio.sleep(0)
    for number in range(MOST_UNREAD + 10):
        teller.exchange.tell("glm", Computed(str(number)))

    assert not teller.exchange._outboxes  # Nothing more is kept for it.
    with pytest.raises(StopAsyncIteration):
        await reading


async def test_a_listener_that_has_gone_is_sent_no_more() -> None:
    teller, context = Heard(), Context()
    stream = teller.exchange.stream(None, context)
    reading = asyncio.ensure_future(cast("Any", anext(stream)))
    await asyncio.sleep(0)
    teller.exchange.tell("glm", BOOKED)
    context.stopped = True

    with pytest.raises(StopAsyncIteration):
        await reading
