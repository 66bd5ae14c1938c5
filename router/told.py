"""What routers of one fleet tell each other, so that each keeps the books of all (`router/peers.py`)."""

import msgspec

from router.ranks import Rank


class Booked(msgspec.Struct, frozen=True, tag="booked"):
    """A request was placed.

    Attributes:
        request_id: Unique among the requests in flight of the router that tells.
        session: Key of its session.
        prompt_tokens: Length of its prompt, tokens.
        new_tokens: Those that its prefill rank has to compute, by what was known then.
        prefill: Its prefill rank; None where that was left to Dynamo.
        decode: Its decode engine, likewise.
    """

    request_id: str
    session: str
    prompt_tokens: int
    new_tokens: int
    prefill: Rank | None = None
    decode: Rank | None = None


class Computed(msgspec.Struct, frozen=True, tag="computed"):
    """The first token of a request came: its prompt is computed."""

    request_id: str


class Left(msgspec.Struct, frozen=True, tag="left"):
    """A request ended, however it did.

    Attributes:
        request_id: As it was booked.
        answer_tokens: Length of its answer, tokens.
        cached_tokens: How much of its prompt the engine found cached, None where it does not say.
    """

    request_id: str
    answer_tokens: int = 0
    cached_tokens: int | None = None


Told = Booked | Computed | Left
