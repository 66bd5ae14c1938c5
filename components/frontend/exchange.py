"""Frontends over the same workers tell each other what they place, so that each has the books of all.

Every frontend serves a Dynamo endpoint that streams its bookings to whoever asks, and asks all others. Nothing waits
for it: a request is placed by what has been heard by then, within some 20 ms.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from typing import Any, Protocol

import msgspec
from dynamo.runtime import Client, Endpoint

from router.told import Told

log = logging.getLogger(__name__)

TOGETHER_S = 0.01
"""How long bookings wait for others to go with them, in s."""

SIGN_OF_LIFE_S = 1.0
SILENCE_S = 5.0
"""After this time without a sign of life, in s, a frontend is taken for gone."""

LOOK_S = 0.5
LONGEST_BREAK_S = 30.0

MOST_UNREAD = 10_000
"""Bookings that wait for a frontend that does not read them; then it is left to ask again."""


class Said(msgspec.Struct, frozen=True):
    """What is told of one model's requests."""

    model: str
    told: Told


class Listens(Protocol):
    """What is used of Dynamo's request context."""

    def is_stopped(self) -> bool:
        """Tell whether the listener has gone."""


class _Outbox:
    """What one listener has not been sent yet; closed, there will be no more."""

    def __init__(self) -> None:
        self.closed = False
        self._said: list[Said] = []
        self._any = asyncio.Event()

    def put(self, said: Said) -> None:
        self._said.append(said)
        self._any.set()
        self.closed = self.closed or len(self._said) > MOST_UNREAD

    def close(self) -> None:
        self.closed = True
        self._any.set()

    async def take(self) -> list[Said]:
        """Return what there is to be sent, nothing after a second without."""
        try:
            async with asyncio.timeout(SIGN_OF_LIFE_S):
                await self._any.wait()
        except TimeoutError:
            return []
        await asyncio.sleep(TOGETHER_S)
        taken, self._said = self._said, []
        self._any.clear()
        return taken


class Exchange:
    """One frontend's part in it.

    Args:
        hear: Is given what another frontend tells: who, of which model, what.
        lost: Is given who tells nothing any more.
    """

    def __init__(self, hear: Callable[[str, str, Told], None], lost: Callable[[str], None]) -> None:
        self._hear = hear
        self._lost = lost
        self._outboxes: set[_Outbox] = set()
        self._following: dict[int, asyncio.Task[None]] = {}
        self._serving: asyncio.Future[Any] | None = None
        self._looking: list[asyncio.Task[None]] = []
        self.peers: set[str] = set()

    def tell(self, model: str, told: Told) -> None:
        """Tell all who listen."""
        said = Said(model, told)
        for outbox in list(self._outboxes):
            outbox.put(said)
            if outbox.closed:
                self._outboxes.discard(outbox)

    async def start(self, endpoint: Endpoint) -> None:
        """Begin to tell and to listen.

        Args:
            endpoint: The same of every frontend that is to take part.
        """
        client = await endpoint.client()
        serving = asyncio.ensure_future(endpoint.serve_endpoint(self.stream, graceful_shutdown=False))
        serving.add_done_callback(_report)
        self._serving = serving
        self._looking = [asyncio.ensure_future(self._look(client, endpoint.connection_id()))]

    async def stop(self) -> None:
        """End what others are told, and listen no more: a stream that the process breaks off is an error in its log."""
        for outbox in self._outboxes:
            outbox.close()
        listening = [*self._looking, *self._following.values()]
        for task in listening:
            task.cancel()
        await asyncio.gather(*listening, return_exceptions=True)

    async def stream(self, _request: Any, context: Listens) -> AsyncIterator[dict[str, str]]:
        """Yield what is placed from now on, as JSON in `said`; the endpoint's handler."""
        outbox = _Outbox()
        self._outboxes.add(outbox)
        try:
            while True:
                said = await outbox.take()
                # What is sent to a listener that has gone is an error in Dynamo's log.
                if outbox.closed or context.is_stopped():
                    return
                yield {"said": msgspec.json.encode(said).decode()}
        finally:
            self._outboxes.discard(outbox)

    async def _look(self, client: Client, own_id: int) -> None:
        while True:
            others = set(client.instance_ids()) - {own_id}
            for peer in others - self._following.keys():
                self._following[peer] = asyncio.ensure_future(self._follow(client, peer))
            for peer in self._following.keys() - others:
                self._following.pop(peer).cancel()
            await asyncio.sleep(LOOK_S)

    async def _follow(self, client: Client, peer: int) -> None:
        """Listen to a frontend for as long as discovery has it."""
        pause_s = LOOK_S
        while True:
            try:
                stream = await client.direct({}, peer)
                async for item in _within(stream, SILENCE_S):
                    pause_s = LOOK_S
                    self.peers.add(str(peer))
                    self._heard(str(peer), item.data())
            except Exception as error:  # noqa: BLE001 - whatever ends the stream, it is asked for again.
                log.info("frontend %d tells nothing any more: %s", peer, error)
            finally:
                self.peers.discard(str(peer))
                self._lost(str(peer))
            await asyncio.sleep(pause_s)
            pause_s = min(LONGEST_BREAK_S, 2 * pause_s)

    def _heard(self, peer: str, sent: dict[str, str]) -> None:
        for said in msgspec.json.decode(sent["said"], type=list[Said]):
            self._hear(peer, said.model, said.told)


async def _within(stream: AsyncIterator[Any], patience_s: float) -> AsyncIterator[Any]:
    """Yield a stream's items, and end with `TimeoutError` when one is late."""
    while True:
        try:
            # Not `wait_for`, which in Python 3.11 may lose a cancellation.
            async with asyncio.timeout(patience_s):
                item = await anext(stream)
        except StopAsyncIteration:
            return
        yield item


def _report(serving: "asyncio.Future[Any]") -> None:
    if not serving.cancelled() and (error := serving.exception()) is not None:
        log.warning("other frontends are not told what is placed here: %s", error)
