"""Timing on a GPU: CUDA graphs of launches that never find their rows in L2."""

import statistics
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

import msgspec
import torch
from torch import Tensor

from benchmarks.kv import gather
from benchmarks.kv.cases import Case, rotations
from benchmarks.kv.contenders import Contender
from benchmarks.kv.table import Device, Measured
from components.kvcache import launch
from components.kvcache.choice import Kernel
from components.kvcache.rows import BF16, FP8, NVFP4_DS_MLA, Row

_BLOCK_TOKENS: Final = 64
_POOL_BLOCKS: Final = 1 << 17
"""8.4 million rows: 3 GB of ours, 5 GB of FP8, 10 GB of bf16, none of which fits any L2."""

_POOL_SHARE: Final = 0.7
"""Of the free memory that the pools may take."""

_COPY_BYTES: Final = 2 << 30
_WORD_BYTES: Final = 4


class Pools(msgspec.Struct, frozen=True):
    """Rows to select from.

    Attributes:
        cache: `[blocks, 64, 352]` uint8.
        words: By cache dtype, `[rows, words]` int32 of the same number of rows.
    """

    cache: Tensor
    words: dict[str, Tensor]

    @property
    def rows(self) -> int:
        """Rows of each pool."""
        return int(self.cache.shape[0]) * _BLOCK_TOKENS


def pools(device: torch.device, free_bytes: int, most_blocks: int = _POOL_BLOCKS) -> Pools:
    """Return pools of as many blocks as fit.

    Args:
        device: Where.
        free_bytes: Memory that is free.
        most_blocks: No more than so many.
    """
    formats = (NVFP4_DS_MLA, FP8, BF16)
    block_bytes = _BLOCK_TOKENS * sum(row.row_bytes for row in formats)
    blocks = max(min(int(free_bytes * _POOL_SHARE) // block_bytes, most_blocks), 1)
    words = {row.cache_dtype: _words(row, blocks * _BLOCK_TOKENS, device) for row in formats}
    octets = words[NVFP4_DS_MLA.cache_dtype].view(torch.uint8)
    # Any latent will do; RoPE below 2 and scales of about one keep the softmax from choosing one row.
    octets[:, 256:320] &= 0xBF
    octets[:, 320:] = octets[:, 320:] & 0x07 | 0x38
    return Pools(octets.view(blocks, _BLOCK_TOKENS, NVFP4_DS_MLA.row_bytes), words)


def _words(row: Row, rows: int, device: torch.device) -> Tensor:
    return torch.randint(-(2**31), 2**31 - 1, (rows, row.row_bytes // _WORD_BYTES), dtype=torch.int32, device=device)


def selections(case: Case, count: int, rows: int, device: torch.device) -> Tensor:
    """Return `[count, tokens, selected]` int32: each token's rows lie anywhere in a context of its own.

    Contexts begin anywhere in the pool; where it is smaller than all of them together, some overlap.
    """
    context = min(case.context, rows)
    starts = torch.randint(0, rows - context + 1, (count, case.tokens, 1), device=device)
    # A stride that has no factor in common with the context's length visits none twice.
    places = torch.arange(case.selected, device=device) * _coprime(context) % context
    shifts = torch.randint(0, context, (count, case.tokens, 1), device=device)
    return (starts + (places + shifts) % context).int()


def _coprime(length: int) -> int:
    # A prime well above a block's tokens, so that neighbours of a selection are strangers in memory.
    return next(prime for prime in (7919, 7907, 7901) if length % prime)


def microseconds(launches: Sequence[Callable[[], None]], rounds: int) -> float:
    """Return the median time of a launch: all of them in one CUDA graph, replayed.

    Args:
        launches: The same kernel on other rows.
        rounds: Replays that are timed.
    """
    for one in launches[:2]:
        one()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for one in launches:
            one()
    graph.replay()
    times = []
    for _ in range(rounds):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e3 / len(launches))
    return float(statistics.median(times))


def device_of(device: torch.device, rounds: int) -> Device:
    """Return what the GPU is and how fast it copies."""
    source, target = (torch.empty(_COPY_BYTES, dtype=torch.uint8, device=device) for _ in range(2))
    source.fill_(1)
    time = microseconds([partial(target.copy_, source)] * 2, rounds)
    return Device(
        name=torch.cuda.get_device_name(device),
        capability=torch.cuda.get_device_capability(device),
        copy_gigabytes_per_second=2 * _COPY_BYTES / time / 1e3,
    )


def measure(case: Case, pool: Pools, contenders: dict[Kernel, Contender], rounds: int) -> Measured:
    """Time every kernel and every gather of one case."""
    device = pool.cache.device
    properties = torch.cuda.get_device_properties(device)
    count = rotations(case.row_bytes(), properties.L2_cache_size)
    slots = selections(case, count, pool.rows, device)
    queries = torch.randn(min(count, 8), case.tokens, case.heads, 576, device=device, dtype=torch.bfloat16)
    out = torch.empty(case.tokens, case.heads, 512, device=device, dtype=torch.bfloat16)
    kernels = {
        kernel: microseconds(
            [partial(call, queries[index % len(queries)], pool.cache, one, out) for index, one in enumerate(slots)],
            rounds,
        )
        for kernel, call in contenders.items()
    }
    sums = torch.empty(slots[0].shape, device=device, dtype=torch.int32)
    gathers = {
        name: microseconds([partial(gather.read, words, one, sums) for one in slots], rounds)
        for name, words in pool.words.items()
    }
    return Measured(case, splits_of(case, device), kernels, gathers)


def splits_of(case: Case, device: torch.device) -> int:
    """Return into how many splits our kernel divides a selection of the case."""
    tile = launch.tile(case.heads, launch.shared_bytes(device))
    return launch.splits(case.tokens, case.heads, case.selected, tile, device)
