"""When the tokens of an answer are due."""

# As fast as possible still has to leave room for other requests on the same event loop.
_BURST = 16


class Pace:
    """An absolute schedule: a late token does not make those after it late, and late ones travel together."""

    def __init__(self, interval: float, start: float) -> None:
        """Start the schedule.

        Args:
            interval: Seconds between tokens; 0 for as fast as possible.
            start: The time of the first token, on the clock that `due` and `delay` are asked with.
        """
        self._interval = interval
        self._start = start

    def due(self, written: int, now: float) -> int:
        """Return how many tokens to write now, at least one, when so many have been written."""
        if self._interval == 0:
            return _BURST
        behind = int((now - self._start) / self._interval) + 1 - written
        return min(_BURST, max(1, behind))

    def delay(self, written: int, now: float) -> float:
        """Return the seconds until the next token is due, 0 when it is late."""
        return max(0.0, self._start + written * self._interval - now)
