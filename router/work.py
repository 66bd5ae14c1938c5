"""What a rank was given to do lately."""


class Work:
    """Work that fades: half of it is forgotten in a half-life.

    Counted in tokens, which no change of prices makes wrong.

    Args:
        half_life_ms: In ms.
    """

    def __init__(self, half_life_ms: float) -> None:
        self._half_life_ms = half_life_ms
        self._amount = 0.0
        self._at_ms = 0.0

    def add(self, amount: float, now_ms: float) -> None:
        """Add work given now, in tokens; what is less than none takes off."""
        self._amount = self.at(now_ms) + amount
        self._at_ms = now_ms

    def at(self, now_ms: float) -> float:
        """Return what is left of it, in tokens."""
        faded: float = 0.5 ** max(0.0, (now_ms - self._at_ms) / self._half_life_ms)
        return self._amount * faded
