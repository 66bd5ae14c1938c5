"""What the router is told."""

import msgspec
import pytest

from components.frontend.limits import Pin, Pins
from components.frontend.request import ChatRequest
from components.frontend.routing import identity_hints, route_request

REQUEST = ChatRequest(model="glm", messages=[])


class Context:
    """A request's metadata, as the x-dynamo-meta headers fill it."""

    def __init__(self, **metadata: str) -> None:
        self.metadata = {name.replace("_", "-"): value for name, value in metadata.items()}


def test_headers_name_the_session_of_the_ladder_before_the_body_does() -> None:
    body = {"model": "glm", "messages": [], "prompt_cache_key": "body"}

    header, field = identity_hints(body, Context(session_id="header")), identity_hints(body, Context())

    assert header.named is not None
    assert field.named is not None
    assert (header.named.rung, field.named.rung) == ("session-id", "prompt_cache_key")
    assert header.named.key != field.named.key
    assert header.scope == field.scope


def test_a_request_that_names_no_session_still_has_a_scope() -> None:
    body = {"model": "glm", "messages": [], "user": "acme"}

    assert identity_hints(body, Context()).named is None
    assert identity_hints(body, Context()).scope != identity_hints(body, Context(api_key="digest")).scope


def test_the_router_sees_prompt_limit_and_priority() -> None:
    request = msgspec.structs.replace(REQUEST, max_tokens=9, nvext={"agent_hints": {"priority": 2}})

    routed = route_request(request, "r1", 2, "s")

    assert (routed.request_id, routed.session, routed.prompt_tokens) == ("r1", "s", 2)
    assert (routed.max_tokens, routed.priority) == (9, 2)


@pytest.mark.parametrize(
    ("nvext", "expected"),
    [
        (None, Pins()),
        ({"prefill_worker_id": 5, "prefill_dp_rank": 0, "other": 1}, Pins(prefill=Pin(5, 0))),
        ({"decode_worker_id": 7}, Pins(decode=Pin(7))),
        ({"dp_rank": 1}, Pins(decode=Pin(dp_rank=1))),
    ],
)
def test_the_clients_pins_are_read_rank_zero_too(nvext: dict[str, int] | None, expected: Pins) -> None:
    assert route_request(msgspec.structs.replace(REQUEST, nvext=nvext), "r1", 2, "s").pins == expected
