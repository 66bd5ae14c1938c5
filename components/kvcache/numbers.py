"""The small floating-point formats of KV rows, as NVIDIA's conversion instructions write them.

Both conversions round to the nearest value, ties to the even code, and saturate: `cvt.rn.satfinite` of PTX.
"""

from itertools import pairwise
from typing import Final

import torch
from torch import Tensor

E2M1_VALUES: Final = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
"""What the codes 0 to 7 mean; bit 3 is the sign."""

E2M1_MAX: Final = 6.0

E4M3_MAX: Final = 448.0

E4M3_SMALLEST: Final = 2.0**-9
"""Its least positive value, a denormal: the floor of a block scale."""

_E4M3_NAN: Final = 0x7F


def to_e2m1(values: Tensor) -> Tensor:
    """Return the code of each value, uint8, 0 to 15.

    A NaN becomes the largest value, 6, and infinity saturates to it (`cuda_fp4.hpp` of CUDA 13.0 states both for its
    host version). A negative value that rounds to zero keeps its sign.
    """
    size = values.abs()
    codes = torch.zeros_like(values, dtype=torch.uint8)
    for code, (low, high) in enumerate(pairwise(E2M1_VALUES)):
        middle = (low + high) / 2
        codes += size >= middle if code & 1 else size > middle
    codes += torch.signbit(values) * torch.tensor(8, dtype=torch.uint8, device=values.device)
    return torch.where(values.isnan(), 7, codes)


def pack_e2m1(codes: Tensor) -> Tensor:
    """Return `[..., n]` codes as `[..., n / 2]` bytes: the even element in the low nibble."""
    return codes[..., 0::2] | codes[..., 1::2] << 4


def unpack_e2m1(packed: Tensor) -> Tensor:
    """Return `[..., n]` bytes as their `[..., 2 n]` values, float32."""
    table = torch.tensor(E2M1_VALUES, device=packed.device)
    signed = torch.cat([table, -table])
    every_byte = torch.arange(256, device=packed.device)
    pairs = torch.stack([signed[every_byte & 15], signed[every_byte >> 4]], dim=-1)
    return pairs[packed.long()].flatten(-2)


def to_e4m3(values: Tensor) -> Tensor:
    """Return the byte of each value, uint8; NaN is 0x7F whatever its sign, infinity saturates to 448."""
    # Versions of torch differ in what they make of a value above the largest.
    octets = values.clamp(-E4M3_MAX, E4M3_MAX).to(torch.float8_e4m3fn).view(torch.uint8)
    return torch.where(values.isnan(), _E4M3_NAN, octets)


def from_e4m3(octets: Tensor) -> Tensor:
    """Return the value of each byte, float32."""
    return octets.contiguous().view(torch.float8_e4m3fn).float()
