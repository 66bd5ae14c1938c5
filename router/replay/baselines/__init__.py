"""The policies of others, written anew from their published rules, so that a replay can tell what ours is worth.

Each names its source and what of it is left out. A policy is made for one replay, from the prices and a seed: what it
remembers is in it, and equal seeds decide alike. They take overlaps as the index has them (`RouteRequest.overlaps`):
that a view's overlap allows for evictions to come is our router's idea.
"""

from collections.abc import Callable, Mapping

from router.costs import Costs
from router.fit import Fit
from router.policy import Policy
from router.replay.baselines.affinity_filter import AffinityFilter
from router.replay.baselines.cache_aware import CacheAware
from router.replay.baselines.dynamo_kv import DynamoAffinity, DynamoKv
from router.replay.baselines.hashing import ConsistentHash
from router.replay.baselines.load import LeastLoaded, Random
from router.replay.baselines.rotation import RoundRobin
from router.router import Router
from router.sticky import Sticky

POLICIES: Mapping[str, Callable[[Costs, int], Policy]] = {
    "sticky": lambda costs, _seed: Sticky(costs),
    "plain": lambda _costs, seed: DynamoKv(seed),  # What our plain policy leaves open, Dynamo's own router decides.
    "round-robin": lambda _costs, _seed: RoundRobin(),
    "random": lambda _costs, seed: Random(seed),
    "least-loaded": lambda _costs, seed: LeastLoaded(seed),
    "kv": lambda _costs, seed: DynamoKv(seed),
    "kv-credit-1.5": lambda _costs, seed: DynamoKv(seed, credit=1.5),
    "kv-affinity": lambda _costs, seed: DynamoAffinity(seed),
    "consistent-hash": lambda _costs, _seed: ConsistentHash(),
    "consistent-hash-bounded": lambda _costs, _seed: ConsistentHash(factor=1.25),
    "cache-aware": lambda _costs, seed: CacheAware(seed),
    "affinity-filter": AffinityFilter,
}
"""Policies by the name that `dynamo replay --policy` takes: what makes one, from the prices and a seed."""


def router(name: str, costs: Costs, seed: int) -> Router:
    """Return a new router with a policy of this name.

    Ours corrects its prices as it does in service; the others have no use for that.

    Args:
        name: As in `POLICIES`.
        costs: The prices, starting prices for ours.
        seed: Of the policy's ties.
    """
    if name == "sticky":
        fit = Fit(costs)
        return Router(Sticky(fit), fit)
    return Router(POLICIES[name](costs, seed), costs)


__all__ = ["POLICIES", "router"]
