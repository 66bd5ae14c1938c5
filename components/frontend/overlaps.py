"""What each rank has of a prompt: Dynamo's KV router beside the token path, as an index and nothing else."""

import logging
from typing import Any, Protocol

from dynamo.llm import KvRouter, KvRouterConfig
from dynamo.runtime import Endpoint

from components.frontend import pairs
from components.frontend.pairs import Prompt, Tokens
from router import Overlap, Rank

log = logging.getLogger(__name__)

Overlaps = dict[Rank, Overlap]


class Index(Protocol):
    """Tells what is cached of a prompt."""

    def prepare(self, token_ids: Tokens) -> Prompt:
        """Make a prompt ready to be found, on any thread."""

    async def find(self, prompt: Prompt) -> Overlaps:
        """Return what each rank has of a prompt; ranks that have nothing may be left out."""


class ShadowIndex:
    """An index of the workers' KV events.

    It sees blocks whoever sent the request that stored them, within milliseconds of their events, and begins with
    what the workers recover to it. It books nothing and tells other routers nothing.

    Args:
        endpoint: Of the workers that publish the events.
        block_size: Tokens of one of their KV blocks.
    """

    def __init__(self, endpoint: Endpoint, block_size: int) -> None:
        self._endpoint = endpoint
        self._block_size = block_size
        self._short = pairs.possible(block_size)
        self._router = self._listen(pairs.PAIR if self._short else block_size)

    def prepare(self, token_ids: Tokens) -> Prompt:
        """Make a prompt ready to be found, on any thread: two thirds of what finding it takes."""
        return Prompt(token_ids, pairs.pairs_of(token_ids, self._block_size) if self._short else None)

    async def find(self, prompt: Prompt) -> Overlaps:
        """Return what each rank has of a prompt; ranks that have nothing are left out."""
        if self._short:
            asked = pairs.pairs_of(prompt.token_ids, self._block_size) if prompt.pairs is None else prompt.pairs
            scores = await self._router.get_overlap_scores(asked)
            if scores["num_blocks"] * pairs.PAIR == len(asked):
                return read_scores(scores, self._block_size)
            # With EAGLE a block's hash covers the next block's first token as well, which workers say in their cards.
            log.warning("blocks overlap, as with EAGLE: the index is asked by whole prompts, 6 ms for 146K tokens")
            self._short, self._router = False, self._listen(self._block_size)
        return read_scores(await self._router.get_overlap_scores(prompt.token_ids.tolist()), self._block_size)

    def _listen(self, block_size: int) -> KvRouter:
        quiet = KvRouterConfig(
            router_replica_sync=False, router_track_active_blocks=False, router_track_prefill_tokens=False
        )
        return KvRouter(endpoint=self._endpoint, block_size=block_size, kv_router_config=quiet)


def read_scores(scores: dict[str, Any], block_size: int) -> Overlaps:
    """Read the answer of ``KvRouter.get_overlap_scores``, whose blocks are of this many tokens.

    Its tiers are cumulative: ``host_pinned_blocks`` counts the device's as well, so only the extensions are read.
    """
    found = {Rank(row["worker_id"], row["dp_rank"]): _overlap(row, block_size) for row in scores["workers"]}
    return {rank: overlap for rank, overlap in found.items() if overlap.device or overlap.host}


def _overlap(row: dict[str, Any], size: int) -> Overlap:
    below = (row["host_pinned_extension_blocks"] or 0) + (row["disk_extension_blocks"] or 0)
    return Overlap(row["device_blocks"] * size, below * size)
