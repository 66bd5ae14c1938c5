"""A prefix cache with a block budget and LRU eviction, as vLLM's: of a prompt the end goes first."""

import heapq

from router.replay.prefixes import ROOT, Prefixes


class PrefixCache:
    """What one memory holds of the prompts of a trace.

    A block is as old as the last prompt that used it. A prompt's later blocks are evicted before its earlier ones, so
    what is held of any prompt is always its beginning.

    Args:
        prefixes: The frozen tree of prompts.
        capacity: Blocks that fit.
    """

    def __init__(self, prefixes: Prefixes, capacity: int) -> None:
        self._tree = prefixes
        self.capacity = capacity
        self.used = 0
        # Nothing is ever evicted then, so nothing needs to be remembered for it.
        self._fits = sum(prefixes.count) <= capacity
        self._held = [0] * len(prefixes)
        self._children = [0] * len(prefixes)
        self._used_at = [0.0] * len(prefixes)
        self._oldest: list[tuple[float, int, int]] = []

    def emptied(self) -> "PrefixCache":
        """Return a cache of this size that holds nothing."""
        return PrefixCache(self._tree, self.capacity)

    def match(self, path: list[int]) -> int:
        """Return how many blocks are held of a prompt, from its start."""
        held, low, high = self._held, 0, len(path)
        while low < high:
            middle = (low + high) // 2
            if held[path[middle]]:
                low = middle + 1
            else:
                high = middle
        if low == 0:
            return 0
        last = path[low - 1]
        return self._tree.depth[last] - self._tree.count[last] + held[last]

    def use(self, path: list[int], now: float) -> None:
        """Hold a prompt, as used now, and evict what no longer fits."""
        if not path:
            return
        tree, held = self._tree, self._held
        for node in reversed(path):
            missing = tree.count[node] - held[node]
            if not missing:
                break
            if not held[node]:
                self._children[tree.parent[node]] += 1
            held[node] += missing
            self.used += missing
        if self._fits:
            return
        self._touch(path[-1], now)
        while self.used > self.capacity and self._oldest:
            self._evict(*heapq.heappop(self._oldest))

    def _touch(self, node: int, now: float) -> None:
        self._used_at[node] = now
        heapq.heappush(self._oldest, (now, -self._tree.depth[node], node))

    def _evict(self, used_at: float, depth: int, node: int) -> None:
        held = self._held[node]
        # Used since, or not a prompt's end: a longer prompt is held, which is younger.
        if not held or self._children[node] or self._used_at[node] != used_at:
            return
        over = self.used - self.capacity
        if held > over:
            self._held[node] -= over
            self.used -= over
            heapq.heappush(self._oldest, (used_at, depth, node))
            return
        self._held[node] = 0
        self.used -= held
        parent = self._tree.parent[node]
        self._children[parent] -= 1
        if parent != ROOT and not self._children[parent]:
            self._touch(parent, max(self._used_at[parent], used_at))
