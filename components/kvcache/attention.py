"""Sparse MLA decode on `nvfp4_ds_mla` rows: attention of each query token over the rows that the indexer selected.

The kernels are Triton's (`components/kvcache/kernels`); `docs/nvfp4.md` has their plan of memory traffic.
"""

from typing import Final, NamedTuple

import torch
from torch import Tensor

from components.kvcache import launch
from components.kvcache.checks import check, check_cache
from components.kvcache.kernels import decode
from components.kvcache.rows import LATENT_VALUES, ROPE_VALUES

_QUERY_VALUES: Final = LATENT_VALUES + ROPE_VALUES
_QUERY_DTYPES: Final = (torch.bfloat16, torch.float16, torch.float32)
_MERGED_VALUES: Final = 128
"""Values of the output to a program that merges."""

_MOST_POSITIONS: Final = 2**31 - 1
"""Slots are int32."""


class _Selection(NamedTuple):
    """The rows that each token attends to, as `sparse_mla_decode` takes them."""

    indices: Tensor
    block_table: Tensor | None
    requests: Tensor | None


def sparse_mla_decode(
    query: Tensor,
    cache: Tensor,
    indices: Tensor,
    *,
    scale: float,
    block_table: Tensor | None = None,
    requests: Tensor | None = None,
    out: Tensor | None = None,
    lse: Tensor | None = None,
    splits: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Attend to the selected rows: `softmax(scale * query . row) . latent`, the row's latent being key and value.

    Rows that are not selected are not read, and an empty entry reads none.

    Args:
        query: `[tokens, heads, 576]`, bf16, fp16 or float32: 512 values of the absorbed latent query, then 64 of RoPE;
            the last axis is contiguous. With bf16 and fp16 products are fp16 and sums float32; with float32 both are
            float32, which is slow and there for checks.
        cache: `[blocks, block_tokens, 352]` uint8. A block's rows follow one another; blocks may lie further apart, as
            in a block-major layout, by a multiple of 16 bytes.
        indices: `[tokens, selected]` int32, -1 where empty: slots (`block * block_tokens + offset`), or with
            `block_table` positions within the token's request. They are not checked against the cache's size.
        scale: What scores are multiplied by before the softmax.
        block_table: `[requests, max_blocks]` int32, the blocks of each request in order. A position in a block of
            -1, or behind the table's last block, is an empty entry.
        requests: `[tokens]` int32, each token's line of `block_table`; needed with it, and only then.
        out: Where to write the result, `[tokens, heads, 512]` in the query's dtype, contiguous; made here without it.
        lse: Where to write the log-sum-exp, `[tokens, heads]` float32, contiguous; made here without it.
        splits: Into how many parts each token's selection is divided, merged by a second launch; without it, as many
            as fill the GPU.

    Returns:
        `out`, and `lse` as the natural logarithm of the sum of `exp(scale * query . row)`. A token without a selected
        row has zeros and minus infinity.

    Raises:
        ValueError: A tensor has another shape, dtype or stride than the above, or `splits` is below one.
    """
    selection = _Selection(indices, block_table, requests)
    _check_arguments(query, cache, selection, splits)
    tokens, heads, _ = query.shape
    out = _made(out, "out", (tokens, heads, LATENT_VALUES), query)
    lse = _made(lse, "lse", (tokens, heads), query, torch.float32)
    if not tokens * heads:
        return out, lse
    tile = launch.tile(heads, launch.shared_bytes(query.device), exact=query.dtype == torch.float32)
    if splits is None:
        splits = launch.splits(tokens, heads, indices.shape[1], tile, query.device)
    attend = _attend if splits == 1 else _attend_in_splits
    attend(query, cache, selection, out, lse, scale=scale, splits=splits, tile=tile)
    return out, lse


def _attend_in_splits(
    query: Tensor,
    cache: Tensor,
    selection: _Selection,
    out: Tensor,
    lse: Tensor,
    *,
    scale: float,
    splits: int,
    tile: launch.Tile,
) -> None:
    """Launch both kernels: every split's result, then their sum."""
    tokens, heads, _ = query.shape
    # As precise as what it is the sum of, and half of what float32 would have to be written and read.
    between = torch.float32 if query.dtype == torch.float32 else torch.float16
    partial = query.new_empty(tokens, splits, heads, LATENT_VALUES, dtype=between)
    partial_lse = query.new_empty(tokens, splits, heads, dtype=torch.float32)
    _attend(query, cache, selection, partial, partial_lse, scale=scale, splits=splits, tile=tile)
    decode.merge[tokens * heads, LATENT_VALUES // _MERGED_VALUES](
        partial, partial_lse, out, lse, heads, splits, launch.power_of_two(splits), _MERGED_VALUES
    )


def _attend(
    query: Tensor,
    cache: Tensor,
    selection: _Selection,
    out: Tensor,
    lse: Tensor,
    *,
    scale: float,
    splits: int,
    tile: launch.Tile,
) -> None:
    """Launch the first kernel: `out` and `lse` take every split's result."""
    indices, block_table, requests = selection
    (tokens, heads, _), selected = query.shape, indices.shape[1]
    row_tiles = -(-selected // tile.rows)
    decode.attend[tokens * splits * -(-heads // tile.heads),](
        query,
        query.stride(0),
        query.stride(1),
        cache,
        cache.stride(0),
        indices,
        indices.stride(0),
        # Never read without a table, but a pointer all the same.
        indices if block_table is None else block_table,
        0 if block_table is None else block_table.stride(0),
        _MOST_POSITIONS if block_table is None else min(block_table.shape[1] * cache.shape[1], _MOST_POSITIONS),
        indices if requests is None else requests,
        out,
        lse,
        scale,
        selected,
        heads,
        splits,
        max(-(-row_tiles // splits), 1) * tile.rows,
        block_tokens=cache.shape[1],
        head_tile=tile.heads,
        row_tile=tile.rows,
        paged=block_table is not None,
        conversions=launch.conversions(query.device),
        exact=query.dtype == torch.float32,
        num_warps=tile.warps,
        # The kernel has its own pipeline.
        num_stages=1,
    )


def _check_arguments(query: Tensor, cache: Tensor, selection: _Selection, splits: int | None) -> None:
    indices, block_table, requests = selection
    check(query, "query", (None, None, _QUERY_VALUES), _QUERY_DTYPES)
    check_cache(cache)
    tokens = query.shape[0]
    check(indices, "indices", (tokens, None), (torch.int32,))
    if (block_table is None) != (requests is None):
        raise ValueError("block_table and requests go together: one of them is missing")
    if block_table is not None and requests is not None:
        check(block_table, "block_table", (None, None), (torch.int32,))
        check(requests, "requests", (tokens,), (torch.int32,))
    if splits is not None and splits < 1:
        raise ValueError(f"splits: {splits} is below one")


def _made(
    given: Tensor | None, name: str, shape: tuple[int, ...], query: Tensor, dtype: torch.dtype | None = None
) -> Tensor:
    """Return the buffer that was given, checked, or a new one."""
    dtype = query.dtype if dtype is None else dtype
    if given is None:
        return query.new_empty(shape, dtype=dtype)
    check(given, name, shape, (dtype,))
    if not given.is_contiguous():
        raise ValueError(f"{name}: it is not contiguous")
    return given
