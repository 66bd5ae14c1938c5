"""What a policy may know of the workers."""

import msgspec

from router.ranks import Rank


class Worker(msgspec.Struct, frozen=True):
    """One engine that serves a role.

    Attributes:
        worker_id: Dynamo's instance id, 64 bits.
        dp_ranks: How many data-parallel attention ranks the engine has; a placement names one of them.
        kv_tokens: Tokens of KV that one rank's memory holds.
        start_rank: The first of its ranks: an engine over several nodes is several workers, whose ranks are counted on.
    """

    worker_id: int
    dp_ranks: int = 1
    kv_tokens: int = 0
    start_rank: int = 0

    def ranks(self) -> tuple[Rank, ...]:
        """Return the worker's ranks, by their numbers in the engine."""
        return tuple(Rank(self.worker_id, rank) for rank in range(self.start_rank, self.start_rank + self.dp_ranks))


class Fleet(msgspec.Struct, frozen=True):
    """The workers alive at one moment.

    Attributes:
        prefill: Engines that compute prompts and hand their KV on.
        decode: Engines that receive KV and generate.
    """

    prefill: tuple[Worker, ...] = ()
    decode: tuple[Worker, ...] = ()
