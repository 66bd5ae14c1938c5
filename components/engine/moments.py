"""The moments of one request in one engine, and the phases between them."""

import time
from typing import Any

import msgspec

TIMELINE = "timeline"
"""Key of the phases in vLLM's ``kv_transfer_params``, the one thing of a request that crosses from engine to engine."""


def monotonic(passed: float) -> float:
    """Return a moment of the wall clock that has passed on the monotonic one; one yet to come is now."""
    return time.monotonic() - max(0.0, time.time() - passed)


class Moments(msgspec.Struct):
    """When what happened to a request, in seconds of the engine's monotonic clock.

    Attributes:
        asked: The ``kv_transfer_params`` that it came with: on decode, what prefill's engine said of its KV.
        queued: It reached the engine.
        fetched: KV from elsewhere had all arrived: a prefix from a store, or the prompt from prefill.
        admitted: A step took it for the first time.
        first_token: It had a token.
    """

    asked: dict[str, Any] | None
    queued: float
    fetched: float | None = None
    admitted: float | None = None
    first_token: float | None = None

    def phases(self) -> dict[str, float]:
        """Return how long each phase took, in ms; one after the other, and only those that ended.

        ``fetch`` is the time in which KV was fetched, the wait for the step that begins it included; ``admission`` the
        time from when the request could be computed to the step that took it; ``compute`` from there to a token.
        """
        found: dict[str, float] = {}
        since = self.queued
        for name, at in (("fetch", self.fetched), ("admission", self.admitted), ("compute", self.first_token)):
            if at is not None:
                found[f"{name}_ms"] = round((at - since) * 1e3, 3)
                since = at
        return found

    def stamp(self, params: dict[str, Any] | None) -> dict[str, Any] | None:
        """Return what the engine's KV connector says of the finished request, with its phases added."""
        asked = self.asked or {}
        if asked.get("do_remote_decode"):
            # Without blocks to hand over nothing is said, and Dynamo takes what is said for a hand-over.
            return params and {**params, TIMELINE: {"prefill": self.phases()}}
        return {**(params or {}), TIMELINE: {**asked.get(TIMELINE, {}), "decode": self.phases()}}
