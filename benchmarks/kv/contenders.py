"""The kernels that read NVFP4 rows, by one signature; those of others only where they are installed."""

from collections.abc import Callable
from importlib.util import find_spec
from typing import Final, TypeAlias

import torch
from torch import Tensor

from components.kvcache.attention import sparse_mla_decode
from components.kvcache.choice import Kernel

Contender: TypeAlias = Callable[[Tensor, Tensor, Tensor, Tensor], None]
"""Query, cache, slots, output."""

_SCALE: Final = 576**-0.5


def contenders(device: torch.device, heads: int, context: int) -> dict[Kernel, Contender]:
    """Return ours, and those of vLLM's and FlashInfer's that this installation has for the GPU.

    Args:
        device: The GPU.
        heads: Query heads of the rank.
        context: Tokens of the longest request.
    """
    found: dict[Kernel, Contender] = {Kernel.TRITON: _triton}
    if find_spec("vllm") is None:
        return found
    from components.kvcache.vllm_backend import others  # noqa: PLC0415 - it imports vLLM.

    available = others.available(torch.cuda.get_device_capability(device), heads)
    if Kernel.FLASHMLA in available:
        step = others.FlashMlaStep.first(context, device).begin()
        found[Kernel.FLASHMLA] = lambda query, cache, slots, out: others.flashmla(
            query, cache, slots, scale=_SCALE, step=step, out=out
        )
    if Kernel.FLASHINFER in available:
        found[Kernel.FLASHINFER] = lambda query, cache, slots, out: others.flashinfer(
            query, cache.flatten(0, 1), slots, scale=_SCALE, out=out
        )
    return found


def _triton(query: Tensor, cache: Tensor, slots: Tensor, out: Tensor) -> None:
    sparse_mla_decode(query, cache, slots, scale=_SCALE, out=out)
