"""How blocks of KV lie in a rank's memory, and into how many pieces a transfer between two ranks falls.

A piece is what NIXL calls a descriptor: one run of bytes at each end. Axes as in vLLM's names of layouts: L layer,
B block, H head (one, with MLA), N token, C content (the row).
"""

from collections.abc import Sequence
from enum import StrEnum
from itertools import pairwise

import msgspec

from components.kvcache.rows import INDEXER_ROW_BYTES, Model, Row


class Layout(StrEnum):
    """The order of the axes in memory, outermost first (vLLM 0.31 `v1/kv_cache_layout.py`, `VLLM_KV_CACHE_LAYOUT`)."""

    LBHNC = "LBHNC"
    LBNHC = "LBNHC"
    LHBNC = "LHBNC"
    BLHNC = "BLHNC"
    BLNHC = "BLNHC"
    BHLNC = "BHLNC"

    @property
    def block_major(self) -> bool:
        """Whether all layers of a block lie together."""
        return self.startswith("B")


class Page(msgspec.Struct, frozen=True):
    """One layer's share of one block.

    Attributes:
        name: The layer and what of it: `0`, `0 indexer`, `78 mtp`, `78 mtp indexer`.
        size_bytes: Bytes of a block's tokens.
    """

    name: str
    size_bytes: int


class Region(msgspec.Struct, frozen=True):
    """Memory that has one piece for every block: block `b`'s begins at `offset_bytes + b * stride_bytes`.

    Attributes:
        name: The page's, or `block` where a piece is all pages of a block.
        offset_bytes: Where block 0's piece begins, from the cache's first byte.
        piece_bytes: Length of a piece.
        stride_bytes: From one block's piece to the next one's; more than `piece_bytes` where others lie between.
    """

    name: str
    offset_bytes: int
    piece_bytes: int
    stride_bytes: int


class Cut(msgspec.Struct, frozen=True):
    """How a model's KV falls into pieces.

    Attributes:
        model: Its layers.
        row: Their rows.
        layout: The order of axes.
        block_tokens: Tokens of a block.
        whole_rows: Whether a block-major block is one piece. In vLLM 0.31 `NixlPushConnector` registers it so and
            `NixlConnector`, which pulls, registers each layer's page (`nixl/base_worker.py`); in 0.33 both do.
    """

    model: Model
    row: Row
    layout: Layout
    block_tokens: int
    whole_rows: bool = True

    def __post_init__(self) -> None:
        """Check the block.

        Raises:
            ValueError: It has no token.
        """
        if self.block_tokens < 1:
            raise ValueError(f"a block of {self.block_tokens} tokens: it needs at least one")

    @property
    def pages(self) -> tuple[Page, ...]:
        """The pages of a block: latents, indexer keys, MTP."""
        latent, indexer = self.row.row_bytes * self.block_tokens, INDEXER_ROW_BYTES * self.block_tokens
        own = self.model.layers
        drafts = range(own, own + self.model.mtp_layers)
        return (
            *(Page(f"{layer}", latent) for layer in range(own)),
            *(Page(f"{layer} indexer", indexer) for layer in self.model.indexer_layers),
            *(Page(f"{layer} mtp", latent) for layer in drafts),
            *(Page(f"{layer} mtp indexer", indexer) for layer in drafts),
        )

    @property
    def block_bytes(self) -> int:
        """Bytes of a block over all layers, without padding."""
        return sum(page.size_bytes for page in self.pages)

    @property
    def padding_bytes(self) -> int:
        """Bytes that vLLM 0.31 adds to a block-major block where kernels count in rows, so that it is whole rows.

        They do in FlashInfer's sparse backend and, on compute capability 10.x, in FlashMLA's (`block_stride_alignment`
        in `model_executor/layers/attention/mla_attention.py`).
        """
        return -self.block_bytes % self.row.row_bytes if self.layout.block_major else 0

    def regions(self, pool_blocks: int) -> tuple[Region, ...]:
        """Return the regions of a cache of that many blocks, which lies at one stretch."""
        if self.layout.block_major and self.whole_rows:
            return (Region("block", 0, self.block_bytes, self.block_bytes),)
        regions, before = [], 0
        for page in self.pages:
            if self.layout.block_major:
                regions.append(Region(page.name, before, page.size_bytes, self.block_bytes))
            else:
                regions.append(Region(page.name, before * pool_blocks, page.size_bytes, page.size_bytes))
            before += page.size_bytes
        return tuple(regions)

    @property
    def pieces_per_block(self) -> int:
        """Pieces of one block."""
        return 1 if self.layout.block_major and self.whole_rows else len(self.pages)

    def blocks(self, tokens: int) -> int:
        """Blocks that hold that many tokens; the last may be partly filled."""
        return -(-tokens // self.block_tokens)

    def pieces(self, tokens: int) -> int:
        """Pieces of a request of that many tokens, none merged."""
        return self.blocks(tokens) * self.pieces_per_block

    def moved_bytes(self, tokens: int) -> int:
        """Bytes that one rank pulls for a request: whole blocks, the last one's empty rows as well."""
        return self.blocks(tokens) * self.block_bytes

    def merged_pieces(self, blocks: int, runs: int) -> int:
        """Return what is left once NIXL has merged pieces that follow one another at both ends.

        Args:
            blocks: Blocks of the request.
            runs: Its runs of neighbouring blocks (`count_runs`).
        """
        if self.layout.block_major and not self.whole_rows:
            # A layer's pages are a block apart: no two of them touch.
            return blocks * self.pieces_per_block
        return runs * self.pieces_per_block


def count_runs(local_blocks: Sequence[int], remote_blocks: Sequence[int]) -> int:
    """Count the runs of blocks that follow one another at both ends, in the order in which they are moved.

    Raises:
        ValueError: The two ends differ in length.
    """
    pairs = list(zip(local_blocks, remote_blocks, strict=True))
    joined = sum(
        local == before_local + 1 and remote == before_remote + 1
        for (before_local, before_remote), (local, remote) in pairwise(pairs)
    )
    return len(pairs) - joined


class Ranks(msgspec.Struct, frozen=True):
    """The ranks of one engine that compute attention.

    With MLA there is one KV head, so tensor parallelism replicates the cache instead of sharding it; data parallelism
    gives a request to one rank; decode context parallelism deals its tokens out.

    Attributes:
        tensor_parallel: `--tensor-parallel-size`.
        data_parallel: `--data-parallel-size`.
        prefill_context_parallel: `--prefill-context-parallel-size`.
        decode_context_parallel: `--decode-context-parallel-size`; its groups lie within the other two.
    """

    tensor_parallel: int = 1
    data_parallel: int = 1
    prefill_context_parallel: int = 1
    decode_context_parallel: int = 1

    def __post_init__(self) -> None:
        """Check that the ranks fall into groups.

        Raises:
            ValueError: They do not.
        """
        if self._request_ranks % self.decode_context_parallel:
            raise ValueError(
                f"decode context parallelism of {self.decode_context_parallel} does not divide the "
                f"{self._request_ranks} ranks that share a request"
            )

    @property
    def _request_ranks(self) -> int:
        return self.tensor_parallel * self.prefill_context_parallel

    @property
    def copies(self) -> int:
        """Copies of a token's KV in the engine, and so how often a transfer to it moves each byte.

        Every rank pulls what it keeps (vLLM 0.31 `nixl/tp_mapping.py`): at TP4 all of it, four times.
        """
        return self._request_ranks // self.decode_context_parallel

    def request_bytes(self, cut: Cut, tokens: int) -> int:
        """Bytes that a transfer to this engine moves for one request, all its ranks together."""
        return self.copies * cut.moved_bytes(tokens)
