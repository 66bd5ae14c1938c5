"""The kernels of others that read `nvfp4_ds_mla` rows on compute capability 10.x: which are there, and their calls."""

from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor
from vllm.v1.attention.ops.flashmla import flash_mla_with_kvcache, get_mla_metadata, is_flashmla_sparse_supported

from components.kvcache.choice import Kernel
from components.kvcache.numbers import E4M3_MAX
from components.kvcache.rows import LATENT_VALUES

_BLACKWELL: Final = 10
_FLASHINFER_HEADS: Final = 16
_FLASHINFER_CAPABILITIES: Final = frozenset({(10, 0), (10, 3)})
# The 0.7.4 wheel has the Python of it and not these.
_FLASHINFER_SOURCE: Final = Path("experimental", "nvfp4_sparse_mla_decode", "csrc", "nvfp4_sparse_mla_decode.cu")


def available(capability: tuple[int, int], heads: int) -> frozenset[Kernel]:
    """Return the kernels that this process could call for a rank with so many heads; ours is always among them."""
    found = {Kernel.TRITON}
    if capability[0] == _BLACKWELL and is_flashmla_sparse_supported()[0]:
        found.add(Kernel.FLASHMLA)
    if capability in _FLASHINFER_CAPABILITIES and heads == _FLASHINFER_HEADS and has_flashinfer():
        found.add(Kernel.FLASHINFER)
    return frozenset(found)


def has_flashinfer() -> bool:
    """Return whether FlashInfer is installed with the source that it compiles when the kernel is first called."""
    spec = find_spec("flashinfer")
    places = () if spec is None else spec.submodule_search_locations or ()
    return any((Path(place) / _FLASHINFER_SOURCE).is_file() for place in places)


def flashinfer(query: Tensor, rows: Tensor, indices: Tensor, *, scale: float, out: Tensor) -> None:
    """Attend by FlashInfer's kernel, which takes the query in e4m3: it is rounded here, with no scale, to 448 at most.

    Args:
        query: `[tokens, 16, 576]` bf16.
        rows: `[rows, 352]` uint8, contiguous.
        indices: `[tokens, selected]` int32: which of them, -1 where empty; a multiple of 32 columns.
        scale: What scores are multiplied by before the softmax.
        out: `[tokens, 16, 512]` bf16, written.
    """
    mla: Any = import_module("flashinfer.mla")
    # Above the largest value torch makes a NaN, and with it one large element would lose the whole token.
    rounded = query.clamp(-E4M3_MAX, E4M3_MAX).to(torch.float8_e4m3fn)
    mla.nvfp4_sparse_mla_decode(rounded, rows, indices, bmm1_scale=scale, out=out)


@dataclass(frozen=True)
class FlashMlaStep:
    """What FlashMLA is given in every layer of a step.

    Attributes:
        block_table: `[1, 1]` int32: it asks for one, and with indices does not read it.
        lengths: `[1]` int32: the longest context, in tokens.
        scheduler: Its division of the work, which the first layer's call fills.
    """

    block_table: Tensor
    lengths: Tensor
    scheduler: Any = None

    @classmethod
    def first(cls, max_model_len: int, device: torch.device) -> "FlashMlaStep":
        """Return what all steps share; kept, since CUDA graphs read it at each replay."""
        lengths = torch.full((1,), max_model_len, dtype=torch.int32, device=device)
        return cls(torch.zeros_like(lengths).unsqueeze(0), lengths)

    def begin(self) -> "FlashMlaStep":
        """Return the same for a step that begins."""
        return replace(self, scheduler=get_mla_metadata()[0])


def flashmla(query: Tensor, cache: Tensor, indices: Tensor, *, scale: float, step: FlashMlaStep, out: Tensor) -> None:
    """Attend by FlashMLA's decode kernel, which has 64 or 128 heads: the missing ones are zeros.

    Args:
        query: `[tokens, heads, 576]` bf16.
        cache: `[blocks, 64, 352]` uint8, blocks a whole number of rows apart.
        indices: `[tokens, selected]` int32, slots, -1 where empty.
        scale: What scores are multiplied by before the softmax.
        step: The step's, the same for all layers.
        out: `[tokens, heads, 512]` bf16, written.
    """
    heads = query.shape[1]
    padded = pad_heads(query, 64 if heads <= 64 else 128)  # noqa: PLR2004 - the two that it is built for.
    found, _ = flash_mla_with_kvcache(
        q=padded.unsqueeze(0),
        k_cache=cache.unsqueeze(-2),
        block_table=step.block_table,
        head_dim_v=LATENT_VALUES,
        cache_seqlens=step.lengths,
        tile_scheduler_metadata=step.scheduler,
        is_fp8_kvcache=True,
        indices=indices.unsqueeze(0),
        softmax_scale=scale,
    )
    out.copy_(found[0, :, :heads])


def pad_heads(query: Tensor, heads: int) -> Tensor:
    """Return a query `[tokens, heads, 576]` with zeros for the heads that are missing to so many."""
    missing = heads - query.shape[1]
    return query if missing == 0 else torch.nn.functional.pad(query, (0, 0, 0, missing))
