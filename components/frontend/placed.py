"""A placement as it was made, for the request and for those who ask why."""

import msgspec

from router import Decision, Overlap


class Placed(msgspec.Struct):
    """A decision, for the request it is made for and for those who ask why.

    Attributes:
        decision: Where, and why.
        routing: The same as Dynamo's ``routing``.
        session: The session's key.
        prompt_tokens: Length of the prompt.
        overlap: What the chosen rank has of it.
        expected_ms: Until the first token, by the prices in force (`router.router.Ticket`).
        took_ms: Making it.
        at: When, seconds since the epoch.
        first_token_ms: How long the first token took from then on, None before.
    """

    decision: Decision
    routing: dict[str, int]
    session: str
    prompt_tokens: int
    overlap: Overlap
    expected_ms: float
    took_ms: float
    at: float
    first_token_ms: float | None = None

    @property
    def new_tokens(self) -> int:
        """Prompt tokens that the chosen rank has to compute."""
        return max(0, self.prompt_tokens - self.overlap.device - self.overlap.host)

    @property
    def workers(self) -> set[int]:
        """The workers that it names."""
        return {value for name, value in self.routing.items() if name.endswith("worker_id")}
