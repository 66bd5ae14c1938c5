"""Reading whole contexts: a program decodes a tile of one request's rows to bf16, exactly."""

import triton
import triton.language as tl

from components.kvcache.kernels.numbers import from_e4m3, unpack_latent
from components.kvcache.rows import LATENT_VALUES, NVFP4_DS_MLA, ROPE_VALUES

_LATENT = tl.constexpr(LATENT_VALUES)
_ROPE = tl.constexpr(ROPE_VALUES)
_ROW = tl.constexpr(NVFP4_DS_MLA.row_bytes)
_ROPE_AT = tl.constexpr(NVFP4_DS_MLA.rope.offset_bytes)
_SCALES_AT = tl.constexpr(min(NVFP4_DS_MLA.scale_offsets_bytes))
_SCALES = tl.constexpr(NVFP4_DS_MLA.scales_bytes)


@triton.jit
def read(
    cache: tl.tensor,
    cache_block_stride: tl.tensor,
    block_table: tl.tensor,
    block_table_stride: tl.tensor,
    starts: tl.tensor,
    out: tl.tensor,
    block_tokens: tl.constexpr,
    row_tile: tl.constexpr,
    conversions: tl.constexpr,
) -> None:
    """Decode rows `row_tile * program_id(0)` and on of request `program_id(1)`, as far as it has them.

    The cache's stride is in bytes, the others in elements. `conversions` is one of `numbers`.
    """
    request = tl.program_id(1)
    start = tl.load(starts + request).to(tl.int64)
    length = tl.load(starts + request + 1) - start
    position = tl.program_id(0) * row_tile + tl.arange(0, row_tile)
    there = position < length
    block = tl.load(block_table + request * block_table_stride + position // block_tokens, mask=there, other=0)
    row = cache + block.to(tl.int64) * cache_block_stride + position % block_tokens * _ROW
    line = out + (start + position) * (_LATENT + _ROPE)
    mask = there[:, None]

    packed = tl.load(row[:, None] + tl.arange(0, _LATENT // 2)[None, :], mask=mask, other=0)
    scales = tl.load(row[:, None] + _SCALES_AT + tl.arange(0, _SCALES)[None, :], mask=mask, other=0)
    even, odd = unpack_latent(packed, scales, row_tile, conversions)
    latent = tl.interleave(even, odd)
    tl.store(line[:, None] + tl.arange(0, _LATENT)[None, :], latent.to(tl.bfloat16), mask=mask)

    rope = tl.load(row[:, None] + _ROPE_AT + tl.arange(0, _ROPE)[None, :], mask=mask, other=0)
    values = from_e4m3(rope).to(tl.bfloat16)
    tl.store(line[:, None] + _LATENT + tl.arange(0, _ROPE)[None, :], values, mask=mask)
