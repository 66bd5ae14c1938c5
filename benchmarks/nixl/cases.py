"""What is moved: the KV of one request, cut in the ways that the write-ups compare."""

from collections.abc import Iterator
from typing import Final

import msgspec

from components.kvcache.layouts import Cut, Layout
from components.kvcache.rows import FP8, GLM_5_3, NVFP4_DS_MLA, Row

CONTEXTS_TOKENS: Final = (124_160, 200_000)
"""1,940 and 3,125 blocks of 64 tokens."""

SCALES: Final = (1, 2, 4, 8, 16, 32)
"""What a block's tokens may be divided by: down to two, so that every page is a whole number of words."""


class Case(msgspec.Struct, frozen=True):
    """One request's KV in one cut.

    Attributes:
        tokens: Context, unscaled.
        cut: Blocks, unscaled.
        scale: What the tokens of a block are divided by to move less in as many pieces.
        fresh: Whether both pools are fresh, so that a request's blocks are neighbours in order; else they lie
            anywhere, as in a pool that has served for a while.
    """

    tokens: int
    cut: Cut
    scale: int
    fresh: bool = False

    @property
    def moved(self) -> Cut:
        """The cut of what is really moved."""
        return msgspec.structs.replace(self.cut, block_tokens=self.cut.block_tokens // self.scale)

    @property
    def blocks(self) -> int:
        """Blocks of the request."""
        return self.cut.blocks(self.tokens)

    @property
    def pieces(self) -> int:
        """Pieces before NIXL merges any."""
        return self.cut.pieces(self.tokens)

    @property
    def moved_bytes(self) -> int:
        """Bytes that are really moved."""
        return self.blocks * self.moved.block_bytes

    @property
    def pool_blocks(self) -> int:
        """Blocks of the pools: one more than needed, so that the regions of a fresh pool do not touch."""
        return self.blocks + 1

    @property
    def pool_bytes(self) -> int:
        """Bytes of each of the two pools."""
        return self.pool_blocks * self.moved.block_bytes

    @property
    def name(self) -> str:
        """The cut in words."""
        pages = ", a piece each page" if self.cut.layout.block_major and not self.cut.whole_rows else ""
        pool = ", fresh pools" if self.fresh else ""
        order = "block" if self.cut.layout.block_major else "layer"
        return f"{order}-major, {self.cut.block_tokens:,} tokens{pages}{pool}"


def _pair(tokens: int, row: Row, scale: int, *, fresh: bool = False) -> tuple[Case, Case]:
    return (
        Case(tokens, Cut(GLM_5_3, row, Layout.LBNHC, 1024), scale, fresh),
        Case(tokens, Cut(GLM_5_3, row, Layout.BLHNC, 64), scale, fresh),
    )


def comparisons(scale: int) -> Iterator[tuple[str, tuple[Case, ...]]]:
    """Yield what is compared, each with its name: the cases of one have the same tokens and row."""
    for tokens in CONTEXTS_TOKENS:
        for row in (NVFP4_DS_MLA, FP8):
            cases: tuple[Case, ...] = _pair(tokens, row, scale)
            if tokens == CONTEXTS_TOKENS[-1] and row is NVFP4_DS_MLA:
                pages = Cut(GLM_5_3, row, Layout.BLHNC, 64, whole_rows=False)
                cases = (*cases, Case(tokens, pages, scale), *_pair(tokens, row, scale, fresh=True))
            yield f"{tokens:,} tokens, rows of {row.row_bytes} B", cases
