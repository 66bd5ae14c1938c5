"""The routed engine's stream, read ahead of its consumer.

Every output that crosses from Rust costs two hand-overs of the GIL and a wake-up of the event loop, about 70 us of CPU;
nothing here can change that, so nothing is added to it: outputs are taken by callbacks, without a task, and what has
arrived by the time the consumer looks is handed over at once. Detokenizing, parsing and writing are paid per chunk.
"""

import asyncio
from collections.abc import Sequence
from typing import Protocol

from components.frontend.request import Json


class EngineFailedError(RuntimeError):
    """The engine reported an error in place of tokens."""


class Output(Protocol):
    """An item of the routed engine's stream."""

    def is_error(self) -> bool:
        """Tell whether the item reports an error."""

    def comments(self) -> list[str] | None:
        """Return the error's texts."""

    def data(self) -> Json | None:
        """Return the engine output, None for an annotation."""


class OutputStream(Protocol):
    """The stream as Rust gives it: the next output comes as a future of the running loop."""

    def __anext__(self) -> "asyncio.Future[Output]":
        """Ask for the next output."""


class Outputs:
    """Outputs of one request, in order.

    Must be made on the event loop. Close it, or the engine goes on.

    Args:
        stream: The routed engine's stream.
    """

    def __init__(self, stream: OutputStream) -> None:
        self._loop = asyncio.get_running_loop()
        self._stream = stream
        self._ready: list[Json] = []
        self._error: BaseException | None = None
        self._exhausted = False
        self._finish_seen = False
        self._waiting: asyncio.Future[None] | None = None
        self._settling: asyncio.Future[None] | None = None
        self._next: asyncio.Future[Output] | None = None
        self._ask()

    def _ask(self) -> None:
        self._next = self._stream.__anext__()
        self._next.add_done_callback(self._arrived)

    def _arrived(self, future: "asyncio.Future[Output]") -> None:
        try:
            self._accept(future.result())
        except asyncio.CancelledError:
            return
        except StopAsyncIteration:
            self._end(None)
        except Exception as error:  # noqa: BLE001 - the consumer raises it.
            self._end(error)
        _wake(self._waiting)

    def _accept(self, item: Output) -> None:
        if item.is_error():
            self._end(EngineFailedError("; ".join(item.comments() or ["the engine reported an error"])))
            return
        if (data := item.data()) is not None:
            self._ready.append(data)
            if data.get("finish_reason") is not None:
                self._finish_seen = True
                _wake(self._settling)
        self._ask()

    def _end(self, error: BaseException | None) -> None:
        self._error = error
        self._exhausted = True
        self._next = None
        _wake(self._settling)

    async def take(self) -> list[Json]:
        """Return what has arrived, waiting for the first; empty at the end of the stream.

        Raises:
            EngineFailedError: If the engine reported an error, after all outputs before it.
        """
        while not self._ready:
            if self._error is not None:
                raise self._error
            if self._exhausted:
                return []
            self._waiting = self._loop.create_future()
            await self._waiting
        ready, self._ready = self._ready, []
        return ready

    async def settle(self, until: float) -> None:
        """Let outputs gather until a time of the loop's clock, or until the last one is there."""
        if self._finish_seen or self._exhausted or until <= self._loop.time():
            return
        self._settling = self._loop.create_future()
        timer = self._loop.call_at(until, _wake, self._settling)
        try:
            await self._settling
        finally:
            timer.cancel()

    def close(self) -> None:
        """Ask for no more; dropping the stream tells the engine."""
        if self._next is not None:
            self._next.cancel()


def merged(outputs: Sequence[Json]) -> Json:
    """Return a run of outputs as one, up to the first finish reason: tokens and log probabilities joined."""
    joined: Json = {"token_ids": [], "log_probs": [], "top_logprobs": []}
    for output in outputs:
        joined["token_ids"] += output.get("token_ids") or ()
        if logprobs := output.get("log_probs"):
            joined["log_probs"] += logprobs
            joined["top_logprobs"] += output.get("top_logprobs") or [[] for _ in logprobs]
        if (usage := output.get("completion_usage")) is not None:
            joined["completion_usage"] = usage
        if (finish := output.get("finish_reason")) is not None:
            if (said := output.get("engine_data")) is not None:
                joined["engine_data"] = said
            return {**joined, "finish_reason": finish}
    return joined


def _wake(future: "asyncio.Future[None] | None") -> None:
    if future is not None and not future.done():
        future.set_result(None)
