"""Whether the kernels are right on this device: decode against float64, the writer against the codec."""

from collections.abc import Iterator
from typing import Final

import msgspec
import torch
from torch import Tensor

from components.kvcache.attention import sparse_mla_decode
from components.kvcache.codec import decode, encode
from components.kvcache.rows import NVFP4_DS_MLA
from components.kvcache.writer import write_rotated_rows, write_rows

EXACT: Final = 1e-5
"""The error that products in float32 may have, relative to float64 over the decoded rows."""

HALF: Final = {torch.float16: 1e-3, torch.bfloat16: 1e-2}
"""The error that fp16 products and an output in that dtype may have."""

_BLOCK_TOKENS: Final = 64
_SCALE: Final = 576**-0.5


class Found(msgspec.Struct, frozen=True):
    """One comparison.

    Attributes:
        name: What was compared.
        error: Relative L2, the worst token and head; for the writer the share of bytes that differ.
        most: What it may be.
    """

    name: str
    error: float
    most: float

    @property
    def good(self) -> bool:
        """Whether the error is small enough; a NaN is not."""
        return self.error <= self.most


def check(device: torch.device, *, tokens: int = 64, context: int = 20_000, selected: int = 2048) -> Iterator[Found]:
    """Compare one after the other.

    Args:
        device: Where the kernels run.
        tokens: Query tokens of a launch.
        context: Rows of the cache, both layouts.
        selected: Entries of a selection: the first token's are all filled, the second one's empty, the others' partly.
    """
    source = torch.Generator(device).manual_seed(0)
    # bf16, where quotients often lie on the middle of two codes and the reciprocal decides.
    latent = torch.randn(context, 512, generator=source, device=device).bfloat16()
    rope = torch.randn(context, 64, generator=source, device=device) * 4
    rows = encode(latent, rope, NVFP4_DS_MLA)
    yield from _check_writer(latent, rope, rows, source)
    keys = torch.cat(decode(rows, NVFP4_DS_MLA), -1).double()
    indices = _selections(tokens, context, selected, source)
    for heads in (16, 64, 5):
        query = torch.randn(tokens, heads, 576, generator=source, device=device)
        for dtype, most in {torch.float32: EXACT, **HALF}.items():
            want, want_lse = _attended(query.to(dtype), keys, indices)
            for block_major in (False, True):
                cache = _cache(rows, block_major=block_major)
                out = torch.full((tokens, heads, 512), torch.nan, dtype=dtype, device=device)
                _, lse = sparse_mla_decode(query.to(dtype), cache, indices, scale=_SCALE, out=out)
                name = f"decode, {heads} heads, {dtype}, {'block' if block_major else 'layer'}-major"
                yield Found(name, max(_error(out, want), _error(lse, want_lse)), most)


def _check_writer(latent: Tensor, rope: Tensor, rows: Tensor, source: torch.Generator) -> Iterator[Found]:
    tokens, device = len(latent), latent.device
    cache = _cache(torch.zeros_like(rows), block_major=True)
    slots = torch.randperm(tokens, generator=source, device=device)
    write_rows(latent, rope, slots, cache)
    yield Found("writer against the codec", _differing(cache.flatten(0, 1)[slots], rows), 0.0)
    angles = torch.rand(1000, 32, generator=source, device=device) * 6
    cos_sin = torch.cat([angles.cos(), angles.sin()], -1)
    positions = torch.randint(0, 1000, (tokens,), generator=source, device=device)
    write_rotated_rows(latent, rope, slots, cache, positions=positions, cos_sin=cos_sin)
    turn = torch.polar(torch.ones_like(angles), angles)[positions]
    rotated = torch.view_as_real(torch.view_as_complex(rope.unflatten(-1, (32, 2))) * turn).flatten(1)
    want = encode(latent, rotated, NVFP4_DS_MLA)
    # Where the rotation's last bit decides a code: products and sums may be fused on one side.
    yield Found("writer with rotation", _differing(cache.flatten(0, 1)[slots], want), 1e-4)


def _selections(tokens: int, context: int, selected: int, source: torch.Generator) -> Tensor:
    score = torch.rand(tokens, context, generator=source, device=source.device)
    indices = score.argsort(dim=-1)[:, :selected].int()
    empty = torch.rand(indices.shape, generator=source, device=source.device) < 0.5  # noqa: PLR2004 - half of them.
    empty[0], empty[1:2] = False, True
    return indices.masked_fill(empty, -1)


def _attended(query: Tensor, keys: Tensor, indices: Tensor) -> tuple[Tensor, Tensor]:
    """Return float64 attention and log-sum-exp, token by token: all of them at once would not fit."""
    outs, sums = [], []
    for line, entries in zip(query.double(), indices.long(), strict=True):
        rows = keys[entries[entries >= 0]]
        score = line @ rows.T * _SCALE
        outs.append(torch.softmax(score, -1) @ rows[:, :512])
        sums.append(torch.logsumexp(score, -1))
    return torch.stack(outs), torch.stack(sums)


def _cache(rows: Tensor, *, block_major: bool) -> Tensor:
    """Return the rows as blocks, with poison behind the last one and, block-major, between them."""
    row = rows.shape[1]
    blocks = -(-len(rows) // _BLOCK_TOKENS)
    layers = 3 if block_major else 1
    memory = torch.full((blocks, layers * _BLOCK_TOKENS * row), 0xFF, dtype=torch.uint8, device=rows.device)
    cache = memory[:, : _BLOCK_TOKENS * row].unflatten(1, (_BLOCK_TOKENS, row))
    slots = torch.arange(len(rows), device=rows.device)
    cache[slots // _BLOCK_TOKENS, slots % _BLOCK_TOKENS] = rows
    return cache


def _error(have: Tensor, want: Tensor) -> float:
    """Return the relative error of the worst line; an empty selection's zeros and infinities must be equal."""
    have = have.double()
    if want.dim() == 2:  # noqa: PLR2004 - log-sum-exps.
        same = have == want
        return float(torch.where(same, 0.0, (have - want).abs() / want.abs().clamp(min=1.0)).max())
    return float(((have - want).norm(dim=-1) / want.norm(dim=-1).clamp(min=1e-30)).max())


def _differing(have: Tensor, want: Tensor) -> float:
    return float((have != want).double().mean())
