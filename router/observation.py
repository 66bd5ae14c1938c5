"""What one finished request tells of what things cost."""

import msgspec


class Observation(msgspec.Struct, frozen=True):
    """One request that was served, in tokens and ms.

    Attributes:
        prompt_tokens: Length of its prompt.
        new_tokens: Those that the prefill rank computed, as the engine says where it does.
        host_tokens: Those that came from the host tier.
        moved_tokens: Those whose KV the decode engine did not have, 1 at the least; 0 where there is no decode engine,
            None where nobody knows.
        beside_ms: Compute of others on the same prefill engine, in hand when it was placed or placed there before its
            first token.
        first_token_ms: From its placement to its first token.
        answer_tokens: Length of its answer.
        answer_ms: From its first token to its end.
        running: Requests that its decode engine ran meanwhile, itself included, the mean over time; 0 where no decode
            engine is known.
    """

    prompt_tokens: int
    new_tokens: int
    host_tokens: int
    moved_tokens: int | None
    beside_ms: float
    first_token_ms: float
    answer_tokens: int
    answer_ms: float
    running: float
