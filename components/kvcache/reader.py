"""Reading whole contexts out of paged `nvfp4_ds_mla` rows, for kernels that want bf16 rows next to each other.

It is what vLLM 0.31's CUDA op `cp_gather_and_upconvert_nvfp4_kv_cache` does, which is for compute capability 10.x.
"""

from typing import Final

import torch
from torch import Tensor

from components.kvcache.checks import check, check_cache
from components.kvcache.kernels import read
from components.kvcache.launch import conversions
from components.kvcache.rows import LATENT_VALUES, ROPE_VALUES

TILE_ROWS: Final = 8
"""Rows of a program: the most that compile without touching the stack for every GPU (Triton 3.9). Not measured."""


def read_rows(cache: Tensor, block_table: Tensor, starts: Tensor, out: Tensor, *, longest: int) -> None:
    """Decode the contexts of requests, one behind the other: 352 bytes read and 1,152 written a row.

    Nothing is rounded: a latent value has six significant bits at most, and bf16 has eight.

    Args:
        cache: `[blocks, block_tokens, 352]` uint8. A block's rows follow one another; blocks may lie further apart, as
            in a block-major layout, by a multiple of 16 bytes.
        block_table: `[requests, max_blocks]` int32, the blocks of each request in order. They are not checked against
            the cache's size.
        starts: `[requests + 1]` int32: the row of `out` at which each context begins, and the last one's end.
        out: `[rows, 576]` bf16, contiguous: 512 latent values, then 64 of RoPE.
        longest: Rows of the longest context.

    Raises:
        ValueError: A tensor has another shape, dtype or stride than the above.
    """
    check_cache(cache)
    check(block_table, "block_table", (None, None), (torch.int32,))
    check(starts, "starts", (block_table.shape[0] + 1,), (torch.int32,))
    check(out, "out", (None, LATENT_VALUES + ROPE_VALUES), (torch.bfloat16,))
    if not out.is_contiguous():
        raise ValueError("out: it is not contiguous")
    tiles = -(-longest // TILE_ROWS)
    if not block_table.shape[0] or not tiles:
        return
    read.read[tiles, block_table.shape[0]](
        cache,
        cache.stride(0),
        block_table,
        block_table.stride(0),
        starts,
        out,
        block_tokens=cache.shape[1],
        row_tile=TILE_ROWS,
        conversions=conversions(cache.device),
        num_warps=4,
    )
