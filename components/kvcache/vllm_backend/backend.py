"""What vLLM 0.31 asks an attention backend before it builds a layer: formats, sizes, GPUs, and the cache's shape."""

from dataclasses import replace
from typing import Any, ClassVar

import torch
from vllm.config import get_current_vllm_config
from vllm.platforms import current_platform
from vllm.platforms.interface import DeviceCapability
from vllm.v1.attention.backend import AttentionBackend

from components.kvcache.choice import read
from components.kvcache.rows import LATENT_VALUES, NVFP4_DS_MLA, ROPE_VALUES

_BLOCK_TOKENS = 64
_FAMILIES = frozenset({9, 10, 12})


class Nvfp4SparseBackend(AttentionBackend):  # type: ignore[misc]  # vLLM is not checked.
    """Sparse MLA on rows of `nvfp4_ds_mla` on compute capability 9.0, 10.x and 12.x; 576-wide heads, bf16.

    A layer's cache is `[blocks, 64, 352]` uint8. Its size comes from the layer (`state_content_bytes` in vLLM's
    `model_executor/layers/attention/mla_attention.py`), its strides from the layout, of which all are read.
    """

    supported_dtypes: ClassVar[list[torch.dtype]] = [torch.bfloat16]
    supported_kv_cache_dtypes: ClassVar[list[str]] = [NVFP4_DS_MLA.cache_dtype]

    @staticmethod
    def get_name() -> str:
        """Return the registry's name of it: vLLM looks the name up there."""
        return "CUSTOM"

    @staticmethod
    def get_supported_kernel_block_sizes(kv_cache_spec: Any = None) -> list[int]:
        """Return the tokens of a block: what vLLM's indexer and FlashMLA read; our kernels would take any number."""
        del kv_cache_spec
        return [_BLOCK_TOKENS]

    @classmethod
    def get_supported_head_sizes(cls) -> list[int]:
        """Return the width of a row in values."""
        return [LATENT_VALUES + ROPE_VALUES]

    @staticmethod
    def get_impl_cls() -> type:
        """Return what computes."""
        from components.kvcache.vllm_backend.impl import Nvfp4SparseImpl  # noqa: PLC0415 - Triton's kernels load.

        return Nvfp4SparseImpl

    @staticmethod
    def get_builder_cls() -> type:
        """Return what prepares a step."""
        from components.kvcache.vllm_backend.metadata import Nvfp4MetadataBuilder  # noqa: PLC0415 - as above.

        return Nvfp4MetadataBuilder

    @classmethod
    def is_mla(cls) -> bool:
        """Say that it is MLA."""
        return True

    @classmethod
    def is_sparse(cls) -> bool:
        """Say that it attends to an indexer's selection."""
        return True

    @classmethod
    def supports_compute_capability(cls, capability: DeviceCapability) -> bool:
        """Say whether there is a kernel: ours is compiled for 9.0, 10.0 and 12.0, and e4m3 needs 8.9."""
        return capability.major in _FAMILIES

    @classmethod
    def supports_combination(cls, *args: Any, **kwargs: Any) -> str | None:
        """Return why the configuration cannot run, or None.

        A bad table of kernels is told here, before anything is loaded. HiSparse gathers rows from the host, and knows
        those of `fp8_ds_mla` only (`v1/hisparse/runtime.py`). PCP and DCP are refused by what the implementation says
        of them.
        """
        del args, kwargs
        if get_current_vllm_config().attention_config.hisparse_config is not None:
            return "HiSparse does not gather nvfp4_ds_mla rows"
        try:
            read()
        except ValueError as error:
            return str(error)
        return None

    @classmethod
    def customize_spec(cls, spec: Any) -> Any:
        """Return the layer's cache with blocks a whole number of rows apart where FlashMLA or FlashInfer may read it.

        Both count in rows. vLLM asks it of the layers of backends that it knows by name (`get_kv_cache_spec` in
        `mla_attention.py`); ours goes by bytes and needs none.
        """
        if current_platform.is_device_capability_family(100):
            return replace(spec, block_stride_alignment=NVFP4_DS_MLA.row_bytes)
        return spec
