"""The pieces of a case as NIXL takes them, the bytes they carry, and whether these arrived."""

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from benchmarks.nixl.cases import Case
from components.kvcache.layouts import Region

Words = NDArray[np.uint32]
Blocks = NDArray[np.int64]
Pieces = NDArray[np.uint64]

_WORD_BYTES = 4
_CHUNK_WORDS = 1 << 22
# Odd, so that it gives every position of a pool below 16 GiB a word of its own.
_FACTOR = np.uint32(2_654_435_761)


def block_tables(case: Case) -> tuple[Blocks, Blocks]:
    """Return the request's blocks in the local and in the remote pool, in the order of its tokens."""
    if case.fresh:
        return np.arange(case.blocks), np.arange(case.blocks)
    random = np.random.default_rng(case.pieces)
    return random.permutation(case.blocks), random.permutation(case.blocks)


def pieces(regions: tuple[Region, ...], blocks: Blocks, base: int) -> Pieces:
    """Return address, length and device of each piece, region after region as vLLM orders them.

    Args:
        regions: The cache's regions.
        blocks: The request's blocks.
        base: Address of the cache's first byte.
    """
    rows = np.zeros((len(regions), len(blocks), 3), dtype=np.uint64)
    for row, region in zip(rows, regions, strict=True):
        row[:, 0] = base + region.offset_bytes + blocks * region.stride_bytes
        row[:, 1] = region.piece_bytes
    return rows.reshape(-1, 3)


def fill(pool: Words) -> None:
    """Give every word of the pool a value that tells where it lies."""
    for first in range(0, len(pool), _CHUNK_WORDS):
        part = pool[first : first + _CHUNK_WORDS]
        part[:] = np.arange(first, first + len(part)).astype(np.uint32) * _FACTOR


def wrong_words(pool: Words, regions: tuple[Region, ...], local: Blocks, remote: Blocks) -> int:
    """Count the words of a request that differ from what the remote pool has at their place.

    Args:
        pool: The local pool, after the transfer.
        regions: The cache's regions, the same at both ends.
        local: The request's blocks here.
        remote: Its blocks there, of which `fill` wrote the words.
    """
    return sum(_wrong_in(pool, region, local, remote) for region in regions)


def _wrong_in(pool: Words, region: Region, local: Blocks, remote: Blocks) -> int:
    offset, stride, length = (
        size // _WORD_BYTES for size in (region.offset_bytes, region.stride_bytes, region.piece_bytes)
    )
    arrived = as_strided(pool[offset:], (int(local.max()) + 1, length), (region.stride_bytes, _WORD_BYTES))
    begins = (offset + remote * stride).astype(np.uint32)
    within = np.arange(length, dtype=np.uint32)
    step = max(1, _CHUNK_WORDS // length)
    return sum(
        int(np.count_nonzero(arrived[local[some]] != (begins[some, None] + within) * _FACTOR))
        for some in (slice(first, first + step) for first in range(0, len(local), step))
    )
