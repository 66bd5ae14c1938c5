"""Queries, paged rows and selections for the tests of the kernels, and what attention over them is in float64."""

from typing import Final, NamedTuple

import numpy as np
import torch
from torch import Tensor

from tests.components.kvcache import oracle

POISON: Final = 0xFF
"""A NaN as e4m3, a minus six as e2m1."""


class Case(NamedTuple):
    """What a launch is called with, and the float64 `[rows, 576]` of every slot that is selected."""

    query: Tensor
    cache: Tensor
    indices: Tensor
    keys: Tensor


def decoded(rows: Tensor) -> Tensor:
    """What rows mean, `[rows, 576]` float64, from tables of the codes."""
    octets = rows.numpy()
    e2m1 = np.concatenate([oracle.E2M1, -oracle.E2M1])
    e4m3 = np.concatenate([oracle.E4M3, [np.nan], -oracle.E4M3, [np.nan]])
    latent = np.stack([e2m1[octets[:, :256] & 15], e2m1[octets[:, :256] >> 4]], -1).reshape(-1, 32, 16)
    # Four rows of eight scales are eight rows of four blocks.
    scales = e4m3[octets[:, 320:]].reshape(-1, 4, 8).transpose(0, 2, 1).reshape(-1, 32)
    latent = (latent * scales[..., None]).reshape(-1, 512)
    return torch.from_numpy(np.concatenate([latent, e4m3[octets[:, 256:320]]], axis=1))


def random_rows(count: int, source: torch.Generator, scale_codes: tuple[int, int] = (40, 64)) -> Tensor:
    """Rows of all latent codes; scales of about one unless other codes are asked for."""
    rows = torch.randint(0, 256, (count, 352), generator=source, dtype=torch.uint8)
    # RoPE below 32: code 0x60 is that.
    rows[:, 256:320] = rows[:, 256:320] & 0x80 | rows[:, 256:320] % 0x60
    rows[:, 320:] = torch.randint(*scale_codes, (count, 32), generator=source, dtype=torch.uint8)
    return rows


def paged(rows: Tensor, slots: Tensor, block_tokens: int, *, block_major: bool) -> Tensor:
    """A cache that has those rows in those slots and poison everywhere else, between its blocks as well."""
    blocks = int(slots.max()) // block_tokens + 1
    between = 3 * block_tokens * 352 + 16 if block_major else 0
    memory = torch.full((blocks, block_tokens * 352 + between), POISON, dtype=torch.uint8)
    cache = memory[:, : block_tokens * 352].unflatten(1, (block_tokens, 352))
    cache[slots // block_tokens, slots % block_tokens] = rows
    return cache


def attended(query: Tensor, keys: Tensor, chosen: list[Tensor], scale: float) -> tuple[Tensor, Tensor]:
    """Attention of each token over its chosen lines of `keys`, and the log-sum-exp, both float64."""
    out = torch.zeros(*query.shape[:2], 512, dtype=torch.float64)
    lse = torch.full(query.shape[:2], -torch.inf, dtype=torch.float64)
    for token, lines in enumerate(chosen):
        if len(lines):
            score = query[token].double() @ keys[lines].T * scale
            out[token] = torch.softmax(score, -1) @ keys[lines, :512]
            lse[token] = torch.logsumexp(score, -1)
    return out, lse


def relative_error(have: Tensor, want: Tensor) -> float:
    """The largest error of a token and head, of the size of what it should be."""
    return float(((have.double() - want).norm(dim=-1) / want.norm(dim=-1)).max())
