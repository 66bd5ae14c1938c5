"""What the router is told of a request, and what the client itself may pin."""

from typing import Any, Protocol

from components.frontend.limits import LimitedRequest, Pin, Pins
from components.frontend.request import ChatRequest, Json
from router.identity import Hints, read_hints


class HasMetadata(Protocol):
    """Dynamo's request context: ``x-dynamo-meta-<name>`` headers under ``<name>``."""

    metadata: Any


def identity_hints(body: Json, context: HasMetadata) -> Hints:
    """Return what a request says of its session, digested: headers before the body's fields.

    Takes the body as the server passes it on: ``session_id``, ``metadata`` and ``user`` are read nowhere else.
    """
    return read_hints(context.metadata, body)


def route_request(request: ChatRequest, request_id: str, prompt_tokens: int, session: str) -> LimitedRequest:
    """Return the request as the router sees it."""
    hints = (request.nvext or {}).get("agent_hints") or {}
    return LimitedRequest(
        request_id=request_id,
        model=request.model,
        session=session,
        prompt_tokens=prompt_tokens,
        max_tokens=request.limit,
        priority=int(hints.get("priority") or 0),
        pins=pins(request),
    )


def pins(request: ChatRequest) -> Pins:
    """Return what the client pinned by ``nvext`` or Dynamo's placement headers, which end up there."""
    nvext = request.nvext or {}
    return Pins(
        Pin(nvext.get("prefill_worker_id"), nvext.get("prefill_dp_rank")),
        Pin(nvext.get("decode_worker_id"), nvext.get("dp_rank")),
    )
