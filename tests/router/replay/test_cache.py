"""The prefix cache, beside a plain one that keeps every block by itself."""

import random

from router.replay.cache import PrefixCache
from router.replay.prefixes import Prefixes

Prompt = tuple[tuple[int, int], ...]


class BlockByBlock:
    """LRU over single blocks: each use renews all of a prompt's, its end as the oldest."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._held: dict[tuple[int, ...], None] = {}

    @staticmethod
    def _prefixes(prompt: Prompt) -> list[tuple[int, ...]]:
        ids = [block for first, count in prompt for block in range(first, first + count)]
        return [tuple(ids[: end + 1]) for end in range(len(ids))]

    def match(self, prompt: Prompt) -> int:
        prefixes = self._prefixes(prompt)
        return next((number for number, prefix in enumerate(prefixes) if prefix not in self._held), len(prefixes))

    def use(self, prompt: Prompt) -> None:
        for prefix in reversed(self._prefixes(prompt)):
            self._held.pop(prefix, None)
            self._held[prefix] = None
        while len(self._held) > self._capacity:
            del self._held[next(iter(self._held))]


def caches(prompts: list[Prompt], capacity: int) -> tuple[PrefixCache, list[list[int]]]:
    tree = Prefixes()
    ends = [tree.insert(prompt) for prompt in prompts]
    tree.freeze()
    return PrefixCache(tree, capacity), [tree.path(end) for end in ends]


def test_a_prompt_is_found_as_far_as_it_was_used_before() -> None:
    cache, (first, longer, fork) = caches([((0, 10),), ((0, 15),), ((0, 7), (90, 8))], 100)
    cache.use(first, 0.0)

    assert [cache.match(path) for path in (first, longer, fork)] == [10, 10, 7]


def test_the_end_of_the_oldest_prompt_goes_first() -> None:
    cache, (old, new, third) = caches([((0, 10),), ((100, 10),), ((200, 4),)], 20)
    cache.use(old, 0.0)
    cache.use(new, 1.0)
    cache.use(third, 2.0)

    assert [cache.match(path) for path in (old, new, third)] == [6, 10, 4]


def test_a_shared_prefix_outlives_the_prompts_that_grew_from_it() -> None:
    cache, (one, other, third) = caches([((0, 4), (10, 6)), ((0, 4), (20, 6)), ((90, 6),)], 16)
    cache.use(one, 0.0)
    cache.use(other, 1.0)
    cache.use(third, 2.0)

    assert [cache.match(path) for path in (one, other, third)] == [4, 10, 6]


def test_use_again_makes_a_prompt_young() -> None:
    cache, (one, other, third) = caches([((0, 8),), ((20, 8),), ((40, 8),)], 16)
    cache.use(one, 0.0)
    cache.use(other, 1.0)
    cache.use(one, 2.0)
    cache.use(third, 3.0)

    assert [cache.match(path) for path in (one, other, third)] == [8, 0, 8]


def test_of_a_prompt_larger_than_memory_the_beginning_stays() -> None:
    cache, (path,) = caches([((0, 50),)], 20)
    cache.use(path, 0.0)

    assert (cache.match(path), cache.used) == (20, 20)


def test_it_evicts_as_a_cache_of_single_blocks_does() -> None:
    chance = random.Random(1)
    prompts: list[Prompt] = [((0, chance.randint(1, 12)), (100 * n, chance.randint(1, 30))) for n in range(1, 30)]
    prompts += [(*prompt, (5000 + number, 9)) for number, prompt in enumerate(prompts[:20])]
    capacity = 150
    cache, paths = caches(prompts, capacity)
    plain = BlockByBlock(capacity)

    for now in range(3000):
        number = chance.randrange(len(prompts))
        assert cache.match(paths[number]) == plain.match(prompts[number])
        cache.use(paths[number], float(now))
        plain.use(prompts[number])
        assert cache.used <= capacity


def test_an_emptied_cache_holds_nothing_and_as_much_fits() -> None:
    cache, (one, other) = caches([((0, 8),), ((20, 8),)], 12)
    cache.use(one, 0.0)

    empty = cache.emptied()

    assert (empty.match(one), empty.used, cache.match(one)) == (0, 0, 8)
    empty.use(one, 1.0)
    empty.use(other, 2.0)
    assert empty.used == 12
