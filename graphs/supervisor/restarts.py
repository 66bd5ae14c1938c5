"""When a process that died is started again: waits that double, and a number of restarts that is enough."""

from collections import deque
from dataclasses import dataclass, field


@dataclass(frozen=True)
class RestartPolicy:
    """How often and how soon a process is started again.

    Attributes:
        first_wait_s: Wait before the first restart; each further one doubles it.
        longest_wait_s: Where the doubling ends.
        stable_s: A life at least this long makes the next wait the first one again.
        limit: Restarts allowed within the window; one more death fails the graph.
        window_s: Length of the window.
    """

    first_wait_s: float = 0.5
    longest_wait_s: float = 30.0
    stable_s: float = 60.0
    limit: int = 5
    window_s: float = 300.0


@dataclass
class Restarts:
    """The restarts of one process, counted against its policy."""

    policy: RestartPolicy
    _times: deque[float] = field(default_factory=deque)
    _in_a_row: int = 0

    def next_wait(self, lived_s: float, now: float) -> float | None:
        """The wait in seconds before the next start, or None when the limit is reached.

        `lived_s` is how long the process lived, `now` the time of its death on a monotonic clock, in seconds.
        """
        while self._times and now - self._times[0] > self.policy.window_s:
            self._times.popleft()
        if len(self._times) >= self.policy.limit:
            return None
        self._times.append(now)
        self._in_a_row = 0 if lived_s >= self.policy.stable_s else self._in_a_row
        wait = min(self.policy.first_wait_s * 2.0**self._in_a_row, self.policy.longest_wait_s)
        self._in_a_row += 1
        return wait
