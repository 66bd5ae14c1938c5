"""What is timed, and the bytes that each case has to move."""

from collections.abc import Sequence
from typing import Final

import msgspec

from components.kvcache.rows import LATENT_VALUES, NVFP4_DS_MLA, ROPE_VALUES

SELECTED: Final = 2048
"""Rows that GLM-5.x's indexer selects for a token (`index_topk`)."""

HEADS: Final = (16, 64)
"""Heads of a rank: TP4 and DP."""

TOKENS: Final = (1, 4, 16, 64, 128, 256)
CONTEXTS: Final = (2_048, 32_768, 204_800)

PROMISED_SHARE: Final = 0.6
"""Of the copy bandwidth, at which the kernel is to read rows from `PROMISED_TOKENS` on."""

PROMISED_TOKENS: Final = 64

_HALF_BYTES: Final = 2
_FLOAT_BYTES: Final = 4


class Case(msgspec.Struct, frozen=True):
    """One launch.

    Attributes:
        heads: Query heads of the rank.
        tokens: Query tokens, each of another request.
        context: Tokens of a request.
    """

    heads: int
    tokens: int
    context: int

    @property
    def selected(self) -> int:
        """Rows of a token's selection."""
        return min(SELECTED, self.context)

    def row_bytes(self, row_bytes: int = NVFP4_DS_MLA.row_bytes) -> int:
        """Return the bytes of all selected rows."""
        return self.tokens * self.selected * row_bytes

    def other_bytes(self, splits: int) -> int:
        """Return what the decode kernels move beside rows: indices, bf16 query and output, and what a merge costs.

        Args:
            splits: Into how many a selection is divided; with more than one, each one's output is written and read.
        """
        lines = self.tokens * self.heads
        query_and_out = lines * (2 * LATENT_VALUES + ROPE_VALUES) * _HALF_BYTES
        partial = 2 * splits * lines * (LATENT_VALUES * _HALF_BYTES + _FLOAT_BYTES) if splits > 1 else 0
        return self.tokens * self.selected * _FLOAT_BYTES + query_and_out + lines * _FLOAT_BYTES + partial


def cases(
    heads: Sequence[int] = HEADS, tokens: Sequence[int] = TOKENS, contexts: Sequence[int] = CONTEXTS
) -> tuple[Case, ...]:
    """Return every combination."""
    return tuple(Case(h, t, c) for h in heads for t in tokens for c in contexts)


def rotations(launch_bytes: int, cache_bytes: int, most: int = 256) -> int:
    """Return how many launches on other rows must lie between two on the same ones.

    Args:
        launch_bytes: What one launch reads.
        cache_bytes: The GPU's L2 cache; twice that must pass through it.
        most: No more than so many: their queries need memory.
    """
    return min(max(-(-2 * cache_bytes // launch_bytes), 2), most)
