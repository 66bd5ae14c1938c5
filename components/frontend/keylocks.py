"""Locks by key, so that what several threads want at the same moment is made once."""

import threading

_STRIPES = 64
"""Locks in all. Two keys that share one wait for each other needlessly, which costs time and nothing else."""


class KeyLocks:
    """One lock for each key, of a fixed number of them.

    Around a cached function it makes the cache hold for simultaneous calls too: `functools.lru_cache` computes a value
    again for every call that comes before the first has returned.
    """

    def __init__(self) -> None:
        self._locks = tuple(threading.Lock() for _ in range(_STRIPES))

    def of(self, key: bytes) -> threading.Lock:
        """Return the lock of a key."""
        return self._locks[hash(key) % _STRIPES]
