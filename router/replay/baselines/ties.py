"""The cheapest of several places, ties broken at random as most routers do."""

import random
from collections.abc import Iterable

from router.ranks import Rank


def chance(seed: int) -> random.Random:
    """Return a policy's own source of chance; equal seeds decide alike."""
    return random.Random(seed)  # noqa: S311 - ties to repeat, not a secret


def cheapest(costs: Iterable[tuple[Rank, float]], ties: random.Random) -> Rank | None:
    """Return a place of the least cost, None where there is no place at all."""
    best: list[Rank] = []
    least = float("inf")
    for rank, cost in costs:
        if cost < least:
            best, least = [rank], cost
        elif cost == least:
            best.append(rank)
    return ties.choice(best) if best else None
