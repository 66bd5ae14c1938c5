"""Encoding latents as KV rows by the rules of vLLM's writers, and decoding rows.

The rules are those of vLLM 0.31's Triton writer (`models/deepseek_v32/common/kernels.py`, `_fused_norm_rope_kernel`),
which computes in float32 from the normed latent on. `docs/nvfp4.md` has them in words, and where a GPU may differ.
"""

from typing import Final

import torch
from torch import Tensor

from components.kvcache.numbers import (
    E2M1_MAX,
    E4M3_MAX,
    E4M3_SMALLEST,
    from_e4m3,
    pack_e2m1,
    to_e2m1,
    to_e4m3,
    unpack_e2m1,
)
from components.kvcache.rows import FP8, LATENT_VALUES, NVFP4_DS_MLA, ROPE_VALUES, Part, Row

_FP8_DS_MLA_FLOOR: Final = 1e-4
"""What that writer's scale is at least, before it is rounded up to a power of two."""


def encode(latent: Tensor, rope: Tensor, row: Row, *, layer_scale: float = 1.0) -> Tensor:
    """Return the rows of tokens, `[..., row_bytes]` uint8.

    Args:
        latent: `[..., 512]`, normed, of any float dtype: it is read as float32.
        rope: `[..., 64]`, rotated, pairs interleaved.
        row: The format.
        layer_scale: What `rows.FP8` divides both by.

    Raises:
        ValueError: A last axis is of another length, the other axes of the two differ, or the format has no such scale.
    """
    _check_scale(layer_scale, row)
    _check(latent, LATENT_VALUES, "latent")
    _check(rope, ROPE_VALUES, "rope")
    if latent.shape[:-1] != rope.shape[:-1]:
        raise ValueError(f"latents of shape {tuple(latent.shape)} with RoPE of shape {tuple(rope.shape)}")
    latent, rope = latent.float(), rope.float()
    rows = torch.empty(*latent.shape[:-1], row.row_bytes, dtype=torch.uint8, device=latent.device)
    if row == NVFP4_DS_MLA:
        _encode_nvfp4(rows, latent, rope, row)
    elif row.scales is not None:
        _encode_fp8_ds_mla(rows, latent, rope, row)
    else:
        _part(rows, row.latent).copy_(_octets(latent / layer_scale, row.latent))
        _part(rows, row.rope).copy_(_octets(rope / layer_scale, row.rope))
    return rows


def decode(rows: Tensor, row: Row, *, layer_scale: float = 1.0) -> tuple[Tensor, Tensor]:
    """Return what rows hold, exactly: `[..., 512]` latents and `[..., 64]` RoPE values, float32.

    Args:
        rows: `[..., row_bytes]`, uint8.
        row: Their format.
        layer_scale: As for `encode`.

    Raises:
        ValueError: The last axis is of another length, or the format has no such scale.
    """
    _check_scale(layer_scale, row)
    _check(rows, row.row_bytes, f"{row.cache_dtype} row")
    latent, rope = _values(rows, row.latent), _values(rows, row.rope)
    if row.scales is None:
        return latent * layer_scale, rope * layer_scale
    groups = latent.unflatten(-1, (-1, row.scale_values)) * scales(rows, row)[..., None]
    return groups.flatten(-2), rope


def scales(rows: Tensor, row: Row) -> Tensor:
    """Return the latent's scales in the order of its groups, `[..., groups]` float32.

    Raises:
        ValueError: The format has none within the row.
    """
    if row.scales is None:
        raise ValueError(f"{row.cache_dtype}: its rows have no scales")
    return _numbers(rows[..., _scale_octets(row, rows.device)], row.scales.number_format)


def _encode_nvfp4(rows: Tensor, latent: Tensor, rope: Tensor, row: Row) -> None:
    groups = latent.unflatten(-1, (-1, row.scale_values))
    octets = to_e4m3((_amax(groups) * (1.0 / E2M1_MAX)).clamp(min=E4M3_SMALLEST))
    # Writers multiply by the reciprocal; dividing gives other codes where a value lies near a middle.
    codes = to_e2m1((groups * (1.0 / from_e4m3(octets))[..., None]).flatten(-2))
    _part(rows, row.latent).copy_(pack_e2m1(codes))
    _part(rows, row.rope).copy_(to_e4m3(rope))
    rows[..., _scale_octets(row, rows.device)] = octets


def _encode_fp8_ds_mla(rows: Tensor, latent: Tensor, rope: Tensor, row: Row) -> None:
    groups = latent.unflatten(-1, (-1, row.scale_values))
    scale = _power_of_two_above((_amax(groups) * (1.0 / E4M3_MAX)).clamp(min=_FP8_DS_MLA_FLOOR))
    _part(rows, row.latent).copy_(to_e4m3((groups / scale[..., None]).flatten(-2)))
    _part(rows, row.rope).copy_(_octets(rope, row.rope))
    rows[..., _scale_octets(row, rows.device)] = scale.view(torch.uint8)


def _amax(groups: Tensor) -> Tensor:
    # The GPU's maximum passes over a NaN.
    size = groups.abs()
    return torch.where(size.isnan(), 0.0, size).amax(-1)


def _power_of_two_above(values: Tensor) -> Tensor:
    # exp2(ceil(log2(x))) without the rounding of either.
    fraction, exponent = torch.frexp(values)
    powers = torch.ldexp(torch.ones_like(values), exponent - (fraction == 0.5).to(torch.int32))  # noqa: PLR2004 - a power of two.
    return torch.where(values.isinf(), values, powers)


def _octets(values: Tensor, part: Part) -> Tensor:
    return values.to(torch.bfloat16).view(torch.uint8) if part.number_format == "bf16" else to_e4m3(values)


def _values(rows: Tensor, part: Part) -> Tensor:
    return _numbers(_part(rows, part), part.number_format)


def _numbers(octets: Tensor, number_format: str) -> Tensor:
    if number_format == "e2m1":
        return unpack_e2m1(octets)
    if number_format == "e4m3":
        return from_e4m3(octets)
    wide = torch.bfloat16 if number_format == "bf16" else torch.float32
    return octets.contiguous().view(wide).float()


def _part(rows: Tensor, part: Part) -> Tensor:
    return rows[..., part.offset_bytes : part.end_bytes]


def _scale_octets(row: Row, device: torch.device) -> Tensor:
    """Return where the bytes of the scales lie within a row, in the order of the groups."""
    size = row.scales_bytes // len(row.scale_offsets_bytes)
    first = torch.tensor(row.scale_offsets_bytes, device=device)
    return (first[:, None] + torch.arange(size, device=device)).flatten()


def _check_scale(layer_scale: float, row: Row) -> None:
    if layer_scale != 1.0 and row != FP8:
        raise ValueError(f"a layer scale of {layer_scale} for {row.cache_dtype}: only {FP8.cache_dtype} has one")


def _check(values: Tensor, size: int, name: str) -> None:
    if values.shape[-1] != size:
        raise ValueError(f"{name}: the last axis has {values.shape[-1]} entries, not {size}")
