"""Latents that the tests of the codec share."""

from typing import Final

import torch
from torch import Tensor

CHUNK_TOKENS: Final = 2048


def random(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def normal(tokens: int, values: int = 512, *, deviation: float = 1.0, seed: int = 0) -> Tensor:
    return torch.randn(tokens, values, generator=random(seed)) * deviation


def hard_latents(seed: int) -> Tensor:
    """Groups of all sizes from denormal floats to overflow, and values that lie on or beside a middle of two codes."""
    source = random(seed)
    groups = torch.randn(CHUNK_TOKENS, 32, 16, generator=source)
    groups *= torch.exp2(torch.randint(-24, 16, (CHUNK_TOKENS, 32, 1), generator=source).float())
    kind = torch.randint(0, 16, (CHUNK_TOKENS, 32, 1), generator=source)
    # Quarters up to 6 of a scale of three bits, so that the scale is kept and every middle occurs.
    scale = torch.randint(8, 16, (CHUNK_TOKENS, 32, 1), generator=source) * 2.0**-6
    ties = torch.randint(-24, 25, groups.shape, generator=source) / 4
    ties[..., 0] = 6.0
    groups = torch.where(kind < 6, ties * scale, groups)
    groups = torch.where(kind == 6, groups.bfloat16().float(), groups)
    groups = torch.where(kind == 7, groups * 2.0**-120, groups)
    groups = torch.where(kind == 8, torch.sign(groups) * 0.0, groups)
    groups = torch.where((kind == 9) & (ties > 5), float("inf"), groups)
    groups = torch.where((kind == 10) & (ties < -5), float("-inf"), groups)
    groups = torch.where((kind == 11) & (ties == 0), float("nan"), groups)
    groups = torch.where((kind == 12) & (torch.rand(groups.shape, generator=source) < 0.5), 0.0, groups)
    return groups.flatten(-2)
