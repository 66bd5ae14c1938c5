"""The book of one place: who lives in its memory, what it has in hand, what it did lately."""

from router.residents import Residents
from router.work import Work


class RankBook:
    """What is known of one prefill rank.

    Args:
        kv_tokens: Tokens that its memory holds.
        half_life_ms: In which half of its past work is forgotten, ms.
    """

    def __init__(self, kv_tokens: int, half_life_ms: float) -> None:
        self.residents = Residents(kv_tokens)
        self.work = Work(half_life_ms)
        self.waiting_tokens = 0
        self.waiting_ms = 0.0
        self._waiting: dict[str, tuple[int, float]] = {}

    @property
    def requests(self) -> int:
        """Requests placed there whose first token has not come."""
        return len(self._waiting)

    def place(self, request_id: str, new_tokens: int, compute_ms: float) -> None:
        """Take a request's new tokens in hand."""
        self._waiting[request_id] = (new_tokens, compute_ms)
        self.waiting_tokens += new_tokens
        self.waiting_ms += compute_ms

    def computed(self, request_id: str) -> None:
        """Note that a request's prompt is computed, or never will be; again is no error."""
        tokens, compute_ms = self._waiting.pop(request_id, (0, 0.0))
        self.waiting_tokens -= tokens
        self.waiting_ms = self.waiting_ms - compute_ms if self._waiting else 0.0


class DecodeBook:
    """What is known of one decode engine.

    Args:
        kv_tokens: Tokens that its memory holds.
    """

    def __init__(self, kv_tokens: int) -> None:
        self.residents = Residents(kv_tokens)
        self.tokens = 0
        self._running: dict[str, int] = {}

    @property
    def requests(self) -> int:
        """Requests placed there and not finished."""
        return len(self._running)

    def place(self, request_id: str, tokens: int) -> None:
        """Take a request of this many prompt tokens."""
        self._running[request_id] = tokens
        self.tokens += tokens

    def finish(self, request_id: str) -> None:
        """Note that a request has left; again is no error."""
        self.tokens -= self._running.pop(request_id, 0)
