"""Names of the places a request can go to."""

from typing import NamedTuple


class Rank(NamedTuple):
    """One data-parallel attention rank of a prefill engine, or a decode engine (its rank is 0).

    Attributes:
        worker_id: Dynamo's instance id, 64 bits.
        dp_rank: The rank within the engine.
    """

    worker_id: int
    dp_rank: int = 0
