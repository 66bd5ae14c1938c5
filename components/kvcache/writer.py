"""Writing new tokens into paged `nvfp4_ds_mla` rows: quantize and scatter, in one launch.

The rule is that of vLLM 0.31's Triton writer (`models/deepseek_v32/common/kernels.py`); the kernel is Triton's
(`components/kvcache/kernels`).
"""

import torch
from torch import Tensor

from components.kvcache.checks import check, check_cache
from components.kvcache.kernels import write
from components.kvcache.launch import conversions
from components.kvcache.rows import LATENT_VALUES, ROPE_VALUES

_VALUES = (torch.bfloat16, torch.float16, torch.float32)
_INDICES = (torch.int64, torch.int32)


def write_rows(latent: Tensor, rope: Tensor, slots: Tensor, cache: Tensor) -> None:
    """Quantize tokens and write each one's row at its slot.

    Args:
        latent: `[tokens, 512]`, normed; bf16, fp16 or float32. The last axis is contiguous.
        rope: `[tokens, 64]`, rotated, pairs interleaved; bf16, fp16 or float32. The last axis is contiguous.
        slots: `[tokens]` int64 or int32, `block * block_tokens + offset`; a negative one is skipped. Others are not
            checked against the cache's size.
        cache: `[blocks, block_tokens, 352]` uint8. A block's rows follow one another; blocks may lie further apart, as
            in a block-major layout.

    Raises:
        ValueError: A tensor has another shape, dtype or stride than the above.
    """
    _check_rows(latent, rope, slots, cache)
    # Without a rotation positions and cosines are never read, but they are pointers all the same.
    _launch(latent, rope, slots, cache, positions=slots, cos_sin=rope, rotate=False)


def write_rotated_rows(
    latent: Tensor, rope: Tensor, slots: Tensor, cache: Tensor, *, positions: Tensor, cos_sin: Tensor
) -> None:
    """Rotate each token's RoPE values by its position, then do as `write_rows`, in one launch.

    The rotation is float32 and goes to e4m3 without a rounding to `rope`'s dtype between, as in vLLM's fused writer.

    Args:
        latent: As for `write_rows`.
        rope: `[tokens, 64]`, not rotated: pair `i` at `2i` and `2i + 1`.
        slots: As for `write_rows`.
        cache: As for `write_rows`.
        positions: `[tokens]` int64 or int32, each a line of `cos_sin`.
        cos_sin: `[max_positions, 64]`: 32 cosines, then 32 sines (vLLM's `cos_sin_cache`); bf16, fp16 or float32. The
            last axis is contiguous.

    Raises:
        ValueError: A tensor has another shape, dtype or stride than the above.
    """
    _check_rows(latent, rope, slots, cache)
    check(positions, "positions", slots.shape, _INDICES)
    check(cos_sin, "cos_sin", (None, ROPE_VALUES), _VALUES)
    _launch(latent, rope, slots, cache, positions=positions, cos_sin=cos_sin, rotate=True)


def _launch(
    latent: Tensor, rope: Tensor, slots: Tensor, cache: Tensor, *, positions: Tensor, cos_sin: Tensor, rotate: bool
) -> None:
    if not slots.numel():
        return
    write.write[slots.numel(),](
        latent,
        latent.stride(0),
        rope,
        rope.stride(0),
        positions,
        cos_sin,
        cos_sin.stride(0),
        slots,
        cache,
        cache.stride(0),
        block_tokens=cache.shape[1],
        rotate=rotate,
        conversions=conversions(cache.device),
        # A thread has one block of 16 values and so its maximum to itself.
        num_warps=1,
    )


def _check_rows(latent: Tensor, rope: Tensor, slots: Tensor, cache: Tensor) -> None:
    check(slots, "slots", (None,), _INDICES)
    check(latent, "latent", (slots.shape[0], LATENT_VALUES), _VALUES)
    check(rope, "rope", (slots.shape[0], ROPE_VALUES), _VALUES)
    check_cache(cache)
