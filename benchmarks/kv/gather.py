"""Merely reading a selection of rows: what attention over it could not be faster than."""

import triton
import triton.language as tl
from torch import Tensor

_TILE_ROWS = tl.constexpr(32)


@triton.jit  # type: ignore[untyped-decorator]  # Triton has no types here.
def _read(
    rows: tl.tensor,
    slots: tl.tensor,
    sums: tl.tensor,
    count: tl.tensor,
    words: tl.constexpr,
) -> None:
    line = tl.program_id(0) * _TILE_ROWS + tl.arange(0, _TILE_ROWS)
    slot = tl.load(slots + line, mask=line < count, other=-1)
    word = tl.arange(0, triton.next_power_of_2(words))
    mask = (slot >= 0)[:, None] & (word < words)[None, :]
    values = tl.load(rows + slot.to(tl.int64)[:, None] * words + word[None, :], mask=mask, other=0)
    # Stored so that the loads are needed: 4 bytes a row.
    tl.store(sums + line, tl.sum(values, 1), mask=line < count)


def read(rows: Tensor, slots: Tensor, sums: Tensor) -> None:
    """Read the rows and store one sum of each.

    Args:
        rows: `[rows, words]` int32, contiguous.
        slots: int32, any shape, contiguous, -1 where empty.
        sums: int32, as many: the sum of each row's words, 0 where empty.
    """
    _read[triton.cdiv(slots.numel(), _TILE_ROWS.value),](rows, slots, sums, slots.numel(), rows.shape[1])
