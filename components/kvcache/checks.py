"""Checks of the tensors that the kernels take: shapes, dtypes and strides, none of which costs a synchronization."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Final

import torch
from torch import Tensor

from components.kvcache.rows import NVFP4_DS_MLA

_CACHE_AXES: Final = 3
_LOAD_BYTES: Final = 16
"""What one load of a thread takes; a row is 22 of them."""


def check(tensor: Tensor, name: str, shape: Sequence[int | None], dtypes: Sequence[torch.dtype]) -> None:
    """Check a tensor's shape and dtype, and that its last axis is contiguous.

    Args:
        tensor: What is checked.
        name: The argument's.
        shape: Each axis, None where any length will do.
        dtypes: Those it may have.

    Raises:
        ValueError: It is another one.
    """
    if any(want not in {None, have} for want, have in zip_longest(shape, tensor.shape, fillvalue=-1)):
        wanted = ", ".join("any" if axis is None else str(axis) for axis in shape)
        raise ValueError(f"{name}: its shape is {tuple(tensor.shape)}, not ({wanted})")
    if tensor.dtype not in dtypes:
        wanted = " or ".join(str(dtype) for dtype in dtypes)
        raise ValueError(f"{name}: its dtype is {tensor.dtype}, not {wanted}")
    if tensor.shape[-1] > 1 and tensor.stride(-1) != 1:
        raise ValueError(f"{name}: its last axis is not contiguous")


def check_cache(cache: Tensor) -> None:
    """Check paged rows: `[blocks, block_tokens, 352]` uint8, a block's rows on end, blocks 16 bytes aligned.

    Raises:
        ValueError: They are others.
    """
    row = NVFP4_DS_MLA.row_bytes
    check(cache, "cache", (None, None, row), (torch.uint8,))
    if cache.shape[1] > 1 and cache.stride(1) != row:
        raise ValueError(f"cache: {cache.stride(1)} bytes from row to row, not {row}")
    if cache.stride(0) % _LOAD_BYTES or cache.data_ptr() % _LOAD_BYTES:
        raise ValueError(f"cache: its blocks do not begin at multiples of {_LOAD_BYTES} bytes")
