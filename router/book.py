"""The book of one place: who lives in its memory, what it has in hand, what it did lately."""

from router.foreign import Others, Published
from router.residents import Residents
from router.work import Work


class RankBook:
    """What is known of one prefill rank.

    Args:
        kv_tokens: Tokens that its memory holds.
        half_life_ms: In which half of its past work is forgotten, ms.

    Attributes:
        residents: The sessions in its memory.
        work: The new tokens it was given lately.
        asked: The prompts that it was given lately, tokens.
        others: What it has in hand of others.
        foreign_work: The new tokens that it computed lately for others.
        waiting_tokens: New tokens of requests placed there whose first token has not come.
        waiting_ms: Their compute, at the prices at which each was placed.
        placed_ms: Compute ever placed there.
    """

    def __init__(self, kv_tokens: int, half_life_ms: float) -> None:
        self.residents = Residents(kv_tokens)
        self.work = Work(half_life_ms)
        self.asked = Work(half_life_ms)
        self.others = Others()
        self.foreign_work = Work(half_life_ms)
        self.waiting_tokens = 0
        self.waiting_ms = 0.0
        self.placed_ms = 0.0
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
        self.placed_ms += compute_ms

    def computed(self, request_id: str) -> None:
        """Note that a request's prompt is computed, or never will be; again is no error."""
        tokens, compute_ms = self._waiting.pop(request_id, (0, 0.0))
        self.waiting_tokens -= tokens
        self.waiting_ms = self.waiting_ms - compute_ms if self._waiting else 0.0

    def report(self, published: Published, since_ms: float, now_ms: float) -> None:
        """Take in what the engine publishes of the rank (`Others.report`)."""
        self.foreign_work.add(self.others.report(published, since_ms, now_ms).computed_tokens, now_ms)


class DecodeBook:
    """What is known of one decode engine.

    Args:
        kv_tokens: Tokens that its memory holds.

    Attributes:
        residents: The sessions in its memory.
        tokens: Prompt tokens of the requests placed there and not finished.
        others: What it has in hand of others.
    """

    def __init__(self, kv_tokens: int) -> None:
        self.residents = Residents(kv_tokens)
        self.tokens = 0
        self.others = Others()
        self._placed: dict[str, int] = {}
        self._running: set[str] = set()
        self._run_ms = self._at_ms = 0.0

    @property
    def requests(self) -> int:
        """Requests placed there and not finished."""
        return len(self._placed)

    def place(self, request_id: str, tokens: int) -> None:
        """Take a request of this many prompt tokens."""
        self._placed[request_id] = tokens
        self.tokens += tokens

    def begin(self, request_id: str, now_ms: float) -> float:
        """Note that a request's answer has begun; returns `run_ms` of now."""
        run_ms = self.run_ms(now_ms)
        self._running.add(request_id)
        return run_ms

    def run_ms(self, now_ms: float) -> float:
        """Return the time that all answers together have been under way, those still under way included, in ms.

        Its growth over a stretch of time, by that time, is how many were under way in it.
        """
        self._run_ms += len(self._running) * (now_ms - self._at_ms)
        self._at_ms = now_ms
        return self._run_ms

    def finish(self, request_id: str, now_ms: float) -> None:
        """Note that a request has left; again is no error."""
        self.run_ms(now_ms)
        self._running.discard(request_id)
        self.tokens -= self._placed.pop(request_id, 0)

    def report(self, published: Published, since_ms: float, now_ms: float) -> None:
        """Take in what the engine publishes (`Others.report`)."""
        self.others.report(published, since_ms, now_ms)
