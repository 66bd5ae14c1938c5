"""What the books keep of a session, and of a request in flight."""

import msgspec

from router.decision import Decision
from router.placement import RouteRequest
from router.ranks import Rank


class Session(msgspec.Struct):
    """Where a session lives.

    Attributes:
        prefill: The rank that computed its last prompt.
        decode: The engine that wrote its last answer.
        prompt_tokens: Length of its last prompt, tokens.
        tokens: Its length after the last answer, tokens.
        used_ms: When it was last placed.
    """

    prefill: Rank | None = None
    decode: Rank | None = None
    prompt_tokens: int = 0
    tokens: int = 0
    used_ms: float = 0.0


class Ticket(msgspec.Struct):
    """One request in flight.

    Attributes:
        request: What was placed.
        decision: Where it went, and why.
        placed_ms: When it was placed, in the caller's milliseconds.
        expected_ms: From then to its first token, by the prices in force; 0 where its rank is left open.
        moved_tokens: Those of its prompt whose KV its decode engine does not have, 1 at the least: there is a transfer
            in any case. 0 where there is no decode engine.
        moves: Whether its session leaves a decode engine. The book of another one has forgotten what it may still have.
        beside_ms: Compute of others on its prefill engine: before the first token what it had in hand less what it was
            ever given, then what it had in hand and was given since.
        first_token_ms: When its first token came back, None before.
        run_ms: `DecodeBook.run_ms` of its decode engine at that moment.
    """

    request: RouteRequest
    decision: Decision
    placed_ms: float
    expected_ms: float = 0.0
    moved_tokens: int = 0
    moves: bool = False
    beside_ms: float = 0.0
    first_token_ms: float | None = None
    run_ms: float = 0.0
