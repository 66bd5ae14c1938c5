"""Writing rows: one program quantizes one token, all in float32, and stores its 352 bytes."""

import triton
import triton.language as tl

from components.kvcache.kernels.numbers import to_e2m1, to_e4m3
from components.kvcache.rows import LATENT_VALUES, NVFP4_DS_MLA, ROPE_VALUES

_LATENT = tl.constexpr(LATENT_VALUES)
_PAIRS = tl.constexpr(ROPE_VALUES // 2)
_ROW = tl.constexpr(NVFP4_DS_MLA.row_bytes)
_ROPE_AT = tl.constexpr(NVFP4_DS_MLA.rope.offset_bytes)
_SCALES_AT = tl.constexpr(min(NVFP4_DS_MLA.scale_offsets_bytes))
_BLOCKS = tl.constexpr(NVFP4_DS_MLA.scales_bytes)
_BLOCK_VALUES = tl.constexpr(NVFP4_DS_MLA.scale_values)
_FLOOR = tl.constexpr(2.0**-9)


@triton.jit
def write(
    latent: tl.tensor,
    latent_stride: tl.tensor,
    rope: tl.tensor,
    rope_stride: tl.tensor,
    positions: tl.tensor,
    cos_sin: tl.tensor,
    cos_sin_stride: tl.tensor,
    slots: tl.tensor,
    cache: tl.tensor,
    cache_block_stride: tl.tensor,
    block_tokens: tl.constexpr,
    rotate: tl.constexpr,
    conversions: tl.constexpr,
) -> None:
    """Write one token's row, or nothing where its slot is negative.

    Strides are in elements, the cache's in bytes. With `rotate`, `positions` says each token's line of `cos_sin`.
    `conversions` is one of `numbers`.
    """
    token = tl.program_id(0).to(tl.int64)
    slot = tl.load(slots + token).to(tl.int64)
    if slot < 0:
        return
    row = cache + slot // block_tokens * cache_block_stride + slot % block_tokens * _ROW
    values = tl.load(latent + token * latent_stride + tl.arange(0, _LATENT)).to(tl.float32)
    packed, scales = _quantize(values, conversions)
    tl.store(row + tl.arange(0, _LATENT // 2), packed)
    block = tl.arange(0, _BLOCKS)
    tl.store(row + _SCALES_AT + 8 * (block % 4) + block // 4, scales)

    pairs = tl.load(rope + token * rope_stride + tl.arange(0, 2 * _PAIRS)).to(tl.float32)
    first, second = tl.split(tl.reshape(pairs, (_PAIRS, 2)))
    if rotate:
        line = cos_sin + tl.load(positions + token).to(tl.int64) * cos_sin_stride + tl.arange(0, _PAIRS)
        cos = tl.load(line).to(tl.float32)
        sin = tl.load(line + _PAIRS).to(tl.float32)
        rotated = first * cos - second * sin
        second = second * cos + first * sin
        first = rotated
    octets = tl.interleave(to_e4m3(first, conversions), to_e4m3(second, conversions))
    tl.store(row + _ROPE_AT + tl.arange(0, 2 * _PAIRS), octets)


@triton.jit
def _quantize(values: tl.tensor, conversions: tl.constexpr) -> tl.tuple:
    """Return the latent's 256 bytes, and 32 scales in the order of the blocks."""
    blocks = tl.reshape(values, (_BLOCKS, _BLOCK_VALUES))
    size = tl.abs(blocks)
    # A GPU's maximum passes over a NaN and the interpreter's does not.
    largest = tl.max(tl.where(size != size, 0.0, size), 1)
    scales = to_e4m3(tl.maximum(largest * (1.0 / 6.0), _FLOOR), conversions)
    # Written as vLLM writes it, so that the GPU's division, which may not round to nearest, gives the same.
    factor = 1.0 / scales.to(tl.float8e4nv, bitcast=True).to(tl.float32)
    even, odd = tl.split(tl.reshape(blocks * factor[:, None], (_LATENT // 2, 2)))
    return to_e2m1(even, odd, conversions), scales
