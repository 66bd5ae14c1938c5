"""A prefill engine with data-parallel attention: its ranks march through every step together."""

from collections import deque
from collections.abc import Collection

from router.costs import Costs
from router.replay.cache import PrefixCache
from router.replay.prefixes import Prefixes


class Prompt:
    """A prompt on its way through a rank.

    Attributes:
        key: The caller's own.
        path: Its nodes in the tree of prefixes.
        tokens: Its length.
        fetched: Blocks that were brought from the host tier, with those before them, before it was enqueued.
        device: Tokens found in the rank's memory when it was first scheduled.
        cached: Tokens that need no compute.
        left: Tokens still to compute; -1 before it is first scheduled.
        started_ms: When it was.
    """

    __slots__ = ("cached", "device", "fetched", "key", "left", "path", "started_ms", "tokens")

    def __init__(self, key: int, path: list[int], tokens: int, fetched: int) -> None:
        self.key = key
        self.path = path
        self.tokens = tokens
        self.fetched = fetched
        self.device = self.cached = 0
        self.left = -1
        self.started_ms = 0.0


class PrefillRank:
    """One rank: a queue, first come first served, and a prefix cache."""

    def __init__(self, cache: PrefixCache) -> None:
        self.cache = cache
        self.queue: deque[Prompt] = deque()
        self.requests = 0
        self.computed_tokens = 0


class PrefillEngine:
    """The ranks of one engine.

    Every rank computes up to its token budget in a step; the step takes as long as its slowest rank.

    Args:
        prefixes: The frozen tree of prompts.
        block_size: Tokens in a block.
        ranks: How many.
        kv_tokens: Tokens of KV a rank's memory holds.
        costs: What a step costs.
    """

    def __init__(self, prefixes: Prefixes, block_size: int, ranks: int, kv_tokens: int, costs: Costs) -> None:
        self._block = block_size
        self._costs = costs
        self.ranks = [PrefillRank(PrefixCache(prefixes, kv_tokens // block_size)) for _ in range(ranks)]
        self.stepping = False
        self.busy_ms = 0.0
        self.stepped_ms = 0.0

    def enqueue(self, rank: int, prompt: Prompt) -> None:
        """Put a prompt at the end of a rank's queue."""
        self.ranks[rank].requests += 1
        self.ranks[rank].queue.append(prompt)

    def drop(self, keys: Collection[int]) -> None:
        """Take prompts that nobody waits for any more out of the queues."""
        for rank in self.ranks:
            rank.queue = deque(prompt for prompt in rank.queue if prompt.key not in keys)

    def lose_all(self) -> None:
        """Lose the queues and what the memories hold, as an engine that dies."""
        for rank in self.ranks:
            rank.queue.clear()
            rank.cache = rank.cache.emptied()

    def step(self, now_ms: float) -> tuple[float, list[Prompt]] | None:
        """Run one step: its length in ms and the prompts it completes, or None when no rank has work."""
        done: list[Prompt] = []
        works = [self._work(rank, now_ms, done) for rank in self.ranks]
        longest = max(works)
        if longest == 0.0:
            return None
        self.busy_ms += sum(works) / len(works)
        self.stepped_ms += longest
        return longest, done

    def _work(self, rank: PrefillRank, now_ms: float, done: list[Prompt]) -> float:
        room, work, costs = self._costs.budget_tokens, 0.0, self._costs
        while rank.queue and room > 0:
            prompt = rank.queue[0]
            if prompt.left < 0:
                self._schedule(rank, prompt, now_ms)
            taken = min(room, prompt.left)
            room -= taken
            prompt.left -= taken
            work += costs.prefill_ms(taken, prompt.tokens - prompt.left)
            if prompt.left == 0:
                rank.cache.use(prompt.path, now_ms)
                done.append(rank.queue.popleft())
        return work + costs.step_ms if work else 0.0

    def _schedule(self, rank: PrefillRank, prompt: Prompt, now_ms: float) -> None:
        prompt.started_ms = now_ms
        # The last token is always computed, and with it its block: its logits are the first token of the answer.
        most = (prompt.tokens - 1) // self._block
        device = min(most, rank.cache.match(prompt.path))
        prompt.device = device * self._block
        prompt.cached = min(most, max(device, prompt.fetched)) * self._block
        prompt.left = prompt.tokens - prompt.cached
        rank.computed_tokens += prompt.left
        rank.cache.use(prompt.path, now_ms)
