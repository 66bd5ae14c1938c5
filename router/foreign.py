"""What a rank has in hand that is in no book: what its engine publishes, less what the books have.

An engine counts requests and says not whose they are, and its figures are of a moment that has passed. A request of the
books may since have left the queue that they show, or may not have reached it. So every request is taken off that was
in hand at any time from just before that moment until now, whether or not the engine counted it, and from the queue its
whole prompt. What remains is never more than others placed, and nothing where nobody else places; where the books have
many requests on a rank, it is less than others placed.
"""

from collections import deque

import msgspec

LATE_MS = 100.0
"""How long an engine's figures may be on their way. What they show of a request is older than its first token by a
transfer and a step of a decode engine anyhow."""

STALE_MS = 5_000.0
"""Figures older than this say nothing: engines publish after every step, and once a second when they have none."""


class Published(msgspec.Struct, frozen=True):
    """What an engine says of one rank after a step (Dynamo's `ForwardPassMetrics`).

    Attributes:
        prefills: Requests of which the step computed a part of the prompt.
        computed_tokens: New prompt tokens computed since the figures before these, as far as they are known.
        queued: Requests that wait for their first step.
        queued_tokens: Their prompts in full, tokens: what of them is cached is not known before they are scheduled.
        answering: Requests that generate, or did and were preempted.
    """

    prefills: int = 0
    computed_tokens: int = 0
    queued: int = 0
    queued_tokens: int = 0
    answering: int = 0


class Foreign(msgspec.Struct, frozen=True):
    """What others have on one rank.

    Attributes:
        requests: Requests whose prompts wait or are being computed.
        prompt_tokens: Prompts that wait, tokens.
        computed_tokens: New prompt tokens computed since the figures before these.
        answering: Requests that generate.
    """

    requests: int = 0
    prompt_tokens: int = 0
    computed_tokens: int = 0
    answering: int = 0


NOBODY = Foreign()


class InHand:
    """The requests of the books at one place, those included that left a moment ago."""

    def __init__(self) -> None:
        self._here: dict[str, int] = {}
        self._left: deque[tuple[float, int]] = deque()

    def enter(self, request_id: str, prompt_tokens: int) -> None:
        """Note that a request was placed."""
        self._here[request_id] = prompt_tokens

    def leave(self, request_id: str, now_ms: float) -> None:
        """Note that it is no longer there; again is no error."""
        if (tokens := self._here.pop(request_id, None)) is not None:
            self._left.append((now_ms, tokens))
        while self._left and self._left[0][0] < now_ms - STALE_MS:
            self._left.popleft()

    def since(self, since_ms: float) -> tuple[int, int]:
        """Return how many requests were in hand at any time since then, and their prompts' tokens."""
        prompts = [*self._here.values(), *(tokens for left_ms, tokens in self._left if left_ms >= since_ms)]
        return len(prompts), sum(prompts)


class Others:
    """What others have at one place, as of the last figures.

    Attributes:
        in_hand: What the books have there.
    """

    def __init__(self) -> None:
        self.in_hand = InHand()
        self._latest = NOBODY
        self._at_ms = -STALE_MS

    def report(self, published: Published, since_ms: float, now_ms: float) -> Foreign:
        """Take in figures that are seen now and had not been there `since_ms`; returns what others have."""
        self._at_ms = now_ms
        self._latest = foreign(published, *self.in_hand.since(since_ms - LATE_MS))
        return self._latest

    def at(self, now_ms: float) -> Foreign:
        """Return what others have, nobody where the figures are stale."""
        return self._latest if now_ms - self._at_ms < STALE_MS else NOBODY


def foreign(published: Published, requests: int, prompt_tokens: int) -> Foreign:
    """Return what others have on a rank.

    Where a step served requests of the books and of others, its tokens are shared by number.

    Args:
        published: The engine's figures.
        requests: Requests of the books that it may have counted.
        prompt_tokens: Their prompts, tokens.
    """
    counted = published.prefills + published.queued
    others = max(0, counted - requests)
    return Foreign(
        requests=others,
        prompt_tokens=max(0, published.queued_tokens - prompt_tokens) if others else 0,
        computed_tokens=published.computed_tokens * others // counted if counted else 0,
        answering=max(0, published.answering - requests),
    )
