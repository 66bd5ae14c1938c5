"""How the kernels are launched: which way to unpack, how many heads and rows to a program, and into how many splits.

None of it was measured: no GPU was at hand. `benchmarks/kv` measures.
"""

from functools import lru_cache
from typing import Final

import msgspec
import torch

from components.kvcache.kernels import interpreted, numbers

_LEAST_HEADS: Final = 16
"""The fewest columns that Triton's `dot` takes."""

_MOST_HEADS: Final = 32
"""With 64 the sums, 512 values a head, do not fit into registers: of a warp's 2,827 instructions for a tile of
rows, 499 would be for the stack (Triton 3.9, sm_90)."""

_SHARED_BYTES: Final = 192 * 1024
"""Shared memory for `_MOST_HEADS` and 128 rows. Compute capability 9.0 and 10.x have 227 KiB, 12.x and 8.9 have 99."""

_HOPPER_BYTES: Final = 227 * 1024

_MOST_SPLITS: Final = 32
"""The merge holds all splits of a tile at once."""

_E4M3_CAPABILITY: Final = (8, 9)
_E2M1_CAPABILITY: Final = (10, 0)

_PROLOGUE_TILES: Final = 2
"""What a program does before its first row and behind its last, in tiles of rows: the query, indices, the output."""


class Tile(msgspec.Struct, frozen=True):
    """One program's share of the work.

    Attributes:
        heads: Heads, a power of two.
        rows: Rows on chip at a time.
        warps: Warps of 32 threads.
    """

    heads: int
    rows: int
    warps: int


def power_of_two(number: int) -> int:
    """Return the least power of two that is not below it."""
    return 1 << (number - 1).bit_length()


def tile(heads: int, shared_bytes: int, *, exact: bool = False) -> Tile:
    """Return a program's share for that many heads of a rank.

    The rank's heads share a program as far as they fit, so that a row is unpacked once.

    Args:
        heads: At least one.
        shared_bytes: Shared memory that a program may have.
        exact: Products in float32, which need twice the shared memory and no speed.
    """
    if exact:
        return Tile(heads=_LEAST_HEADS, rows=16, warps=4)
    # Two warp groups, because one's registers do not hold the sums, a tile of rows and the bytes of the next one.
    if shared_bytes < _SHARED_BYTES:
        return Tile(heads=_LEAST_HEADS, rows=64, warps=8)
    # A warp group's wgmma takes 64 rows. With 64 for both of them, each would compute all scores: 1,434 instructions of
    # a warp for 64 rows, against 1,715 for 128 (Triton 3.9, sm_90, 16 heads).
    return Tile(heads=min(max(power_of_two(heads), _LEAST_HEADS), _MOST_HEADS), rows=128, warps=8)


@lru_cache(maxsize=4096)
def count_splits(tokens: int, head_tiles: int, row_tiles: int, processors: int) -> int:
    """Return into how many splits a selection is best divided, counting tiles of rows that follow one another.

    One program to a multiprocessor: whatever is left over waits for the next wave.

    Args:
        tokens: Query tokens of the launch.
        head_tiles: Programs that share a token's heads.
        row_tiles: Tiles of rows of a whole selection.
        processors: Multiprocessors of the GPU.
    """

    def tiles(parts: int) -> int:
        waves = -(-tokens * head_tiles * parts // processors)
        merge = _PROLOGUE_TILES if parts > 1 else 0
        return waves * (-(-row_tiles // parts) + _PROLOGUE_TILES) + merge

    return min(range(1, max(min(row_tiles, _MOST_SPLITS), 1) + 1), key=tiles)


def splits(tokens: int, heads: int, selected: int, share: Tile, device: torch.device) -> int:
    """Return into how many splits a launch divides selections of so many entries."""
    return count_splits(tokens, -(-heads // share.heads), -(-selected // share.rows), processors(device))


def processors(device: torch.device) -> int:
    """Return the GPU's multiprocessors; 1 for a CPU, where programs run one after the other."""
    return int(torch.cuda.get_device_properties(device).multi_processor_count) if device.type == "cuda" else 1


def shared_bytes(device: torch.device) -> int:
    """Return the shared memory that a program may have; for a CPU Hopper's, so that its tiles are interpreted."""
    if device.type != "cuda":
        return _HOPPER_BYTES
    return int(torch.cuda.get_device_properties(device).shared_memory_per_block_optin)


def conversions(device: torch.device) -> int:
    """Return how the device converts e2m1 and e4m3 (`kernels.numbers`).

    Raises:
        ValueError: The GPU has no e4m3, or it is none, and Triton's interpreter is off.
    """
    if device.type != "cuda":
        if not interpreted():
            raise ValueError(
                f"tensors are on {device.type}: without a GPU the kernels need Triton's interpreter, which "
                "TRITON_INTERPRET=1 selects before Triton is imported"
            )
        return int(numbers.PORTABLE)
    capability = torch.cuda.get_device_capability(device)
    if capability < _E4M3_CAPABILITY:
        raise ValueError(f"compute capability {capability[0]}.{capability[1]}: NVFP4 rows need 8.9 or above")
    return int(numbers.HARDWARE if capability >= _E2M1_CAPABILITY else numbers.INTEGER)
