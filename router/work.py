"""What a rank has done lately and has in hand."""


class Work:
    """Work that fades: half of it is forgotten in a half-life.

    Args:
        half_life_ms: In ms.
    """

    def __init__(self, half_life_ms: float) -> None:
        self._half_life_ms = half_life_ms
        self._amount = 0.0
        self._at_ms = 0.0

    def add(self, amount: float, now_ms: float) -> None:
        """Add work done now, in ms of a rank's time."""
        self._amount = self.at(now_ms) + amount
        self._at_ms = now_ms

    def at(self, now_ms: float) -> float:
        """Return what is left of it, in ms of a rank's time."""
        faded: float = 0.5 ** max(0.0, (now_ms - self._at_ms) / self._half_life_ms)
        return self._amount * faded
