"""One request between its placement and its end.

Where its workers fail before the first token, it is placed again, once, and the client does not notice. A first token
that the client may have seen is never taken back.
"""

import logging
from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from components.frontend.failures import for_client, may_succeed_elsewhere
from components.frontend.health import now_ms
from components.frontend.limits import LimitedRequest
from components.frontend.outputs import EngineFailedError, Outputs, OutputStream
from components.frontend.pairs import Prompt
from components.frontend.placed import Placed
from components.frontend.placing import Placing
from components.frontend.request import Json
from components.frontend.usage import TokenCounter
from router import Outcome

log = logging.getLogger(__name__)


class RoutedEngine(Protocol):
    """Dynamo's routed engine: prefill, hand-off, decode and migration, in Rust."""

    async def generate(self, request: Json, *, context: Any) -> OutputStream:
        """Send a preprocessed request; its outputs come back as a stream."""


class Flight:
    """One request on its way.

    Args:
        placing: Chooses where it goes.
        request: The request as the router sees it.
        stopped: Tells whether its client has gone.
    """

    def __init__(self, placing: Placing, request: LimitedRequest, stopped: Callable[[], bool]) -> None:
        self._placing = placing
        self._request = request
        self._stopped = stopped
        self._placed: Placed | None = None
        self._booked = False
        self._streaming = False

    async def start(
        self, routed: RoutedEngine, preprocessed: Json, prompt: Prompt, context: Any
    ) -> tuple[Outputs, list[Json]]:
        """Send the request and return its outputs, with those that came first.

        Args:
            routed: Dynamo's routed engine.
            preprocessed: The request, but for its ``routing``.
            prompt: Its prompt.
            context: Dynamo's context of the request.

        Raises:
            Exception: What the routed engine raised, or `EngineFailedError`, and placing it again did not help.
        """
        try:
            return await self._attempt(routed, preprocessed, prompt, context)
        except Exception as error:
            guilty = await self.failed(error)
            if not self._may_go_elsewhere(error):
                raise self._for_client(error) from error
            log.warning("request %s is placed again, before its first token: %s", context.id(), error)
            self._request = msgspec.structs.replace(self._request, avoid=frozenset(guilty or self._suspects()))
        served = False
        try:
            first = await self._attempt(routed, preprocessed, prompt, context)
            served = True
        except Exception as error:
            raise await self.broken(error) from error
        finally:
            self._placing.metrics.placed_again(self._placing.model, served=served)
        return first

    @property
    def placement_ms(self) -> float:
        """How long its last placement took; 0 before there was one."""
        return 0.0 if self._placed is None else self._placed.took_ms

    async def failed(self, error: Exception) -> set[int]:
        """Find out which workers are out after what the routed engine raised, and return them."""
        blame = self._placing.blame
        if blame is None or not may_succeed_elsewhere(error) or self._stopped():
            return set()
        return await blame.failed(self._suspects(), error)

    async def broken(self, error: Exception) -> Exception:
        """Find out which worker broke off an answer under way, and return what the client is to be told."""
        await self.failed(error)
        return self._for_client(error)

    def finish(self, tokens: TokenCounter, *, finished: bool) -> None:
        """Take the request off the books; again, or before it was placed, is no error.

        Args:
            tokens: What the engine has counted.
            finished: Whether the answer has its finish reason.
        """
        self._leave(self._outcome(finished=finished), tokens.completion, tokens.cached)

    async def _attempt(
        self, routed: RoutedEngine, preprocessed: Json, prompt: Prompt, context: Any
    ) -> tuple[Outputs, list[Json]]:
        self._streaming = False
        self._placed = await self._placing.place(self._request, prompt)
        self._booked = True
        outputs = None
        try:
            stream = await routed.generate({**preprocessed, "routing": self._placed.routing or None}, context=context)
            self._streaming = True
            outputs = Outputs(stream)
            batch = await outputs.take()
            self._check(batch)
        except BaseException:
            if outputs is not None:
                outputs.close()
            self._leave(self._outcome(finished=False))
            raise
        if batch:
            self._placing.first_token(self._request.request_id, self._placed)
        return outputs, batch

    def _check(self, batch: list[Json]) -> None:
        if not batch and not self._stopped():
            raise EngineFailedError("the engine's stream ended without a finish reason")
        # Dynamo writes an engine's error as an object; with tokens before it, it is the answer's to tell.
        if batch and isinstance(reason := batch[0].get("finish_reason"), dict) and not batch[0].get("token_ids"):
            raise EngineFailedError(f"the engine ended the answer with {reason}")

    def _may_go_elsewhere(self, error: Exception) -> bool:
        # A client that names workers wants these.
        free = self._placing.roster is not None and not self._request.pins
        return free and may_succeed_elsewhere(error) and not self._stopped()

    def _for_client(self, error: Exception) -> Exception:
        return for_client(error, pinned=bool(self._request.pins))

    def _suspects(self) -> set[int]:
        """Return the workers that an error may be the fault of: once outputs stream, the prompt is computed."""
        if self._placed is None:
            return set()
        if not self._streaming:
            return self._placed.workers
        return {id_ for name, id_ in self._placed.routing.items() if name == "decode_worker_id"}

    def _outcome(self, *, finished: bool) -> Outcome:
        if finished:
            return "stop"
        return "cancelled" if self._stopped() else "error"

    def _leave(self, outcome: Outcome, answer_tokens: int = 0, cached_tokens: int | None = None) -> None:
        if self._booked:
            self._booked = False
            self._placing.router.finish(
                self._request.request_id, outcome, now_ms(), answer_tokens=answer_tokens, cached_tokens=cached_tokens
            )
