"""What one step needs besides vLLM's own metadata: how the contexts of its prompts pass through the workspace.

A step's tokens are in vLLM's order, those of decodes and short turns first. They read the rows as stored. Long turns
have their whole context decoded to bf16 once, since their tokens select the same rows over and over.
"""

from dataclasses import dataclass
from itertools import accumulate
from typing import Any, ClassVar

import torch
from torch import Tensor
from vllm.model_executor.layers.attention.sparse_mla_attention import (
    SparseMLACommonMetadata,
    SparseMLACommonMetadataBuilder,
)
from vllm.platforms import current_platform
from vllm.utils.torch_utils import async_tensor_h2d
from vllm.v1.attention.backend import AttentionCGSupport
from vllm.v1.attention.backends.mla.flashmla_sparse import MIN_HEADS_FOR_BF16_PREFILL
from vllm.v1.attention.backends.utils import split_prefill_chunks
from vllm.v1.attention.ops.flashmla import is_flashmla_sparse_supported

from components.kvcache.choice import Kernel
from components.kvcache.vllm_backend.others import FlashMlaStep, available

_SHORT_TURN_TOKENS = 128
"""Up to so many new tokens a request counts as a decode: vLLM's figure for FlashMLA at 16 and 32 heads, not measured
for ours."""


def decodes_contexts(heads: int) -> bool:
    """Return whether long turns go through FlashMLA's bf16 kernel, on contexts that are decoded first.

    It is built for 9.0 and 10.x and pads heads to 64 or 128: vLLM does not use it below 32 either.
    """
    supported, _ = is_flashmla_sparse_supported()
    return bool(supported) and heads >= MIN_HEADS_FOR_BF16_PREFILL


@dataclass(frozen=True)
class Chunk:
    """Long turns whose contexts are in the workspace together.

    Attributes:
        tokens: Their tokens, within the step's.
        block_table: `[requests, max_blocks]` int32, their blocks.
        starts: `[requests + 1]` int32: the row of the workspace at which each context begins, and the last one's end.
        requests: `[tokens]` int32: of each token, which of these requests it is of.
        rows: Rows of all contexts.
        longest: Rows of the longest context.
    """

    tokens: slice
    block_table: Tensor
    starts: Tensor
    requests: Tensor
    rows: int
    longest: int


@dataclass(kw_only=True)
class Nvfp4Metadata(SparseMLACommonMetadata):  # type: ignore[misc]  # vLLM is not checked.
    """A step of vLLM's sparse MLA.

    Attributes:
        chunks: Its long turns; without any, all tokens read rows as stored.
        flashmla: What FlashMLA is given, where it may be chosen.
    """

    chunks: tuple[Chunk, ...] = ()
    flashmla: FlashMlaStep | None = None


class Nvfp4MetadataBuilder(SparseMLACommonMetadataBuilder):  # type: ignore[misc]
    """Adds the chunks. Decode steps need none, so that they replay as CUDA graphs."""

    _cudagraph_support: ClassVar[Any] = AttentionCGSupport.UNIFORM_BATCH
    metadata_cls = Nvfp4Metadata

    def __init__(self, kv_cache_spec: Any, layer_names: list[str], vllm_config: Any, device: torch.device) -> None:
        super().__init__(kv_cache_spec, layer_names, vllm_config, device)
        self._init_reorder_batch_threshold(_SHORT_TURN_TOKENS, supports_spec_as_decode=True)
        heads = self.model_config.get_num_attention_heads(vllm_config.parallel_config)
        capability = current_platform.get_device_capability()
        self._decodes_contexts = decodes_contexts(heads)
        self._flashmla = None
        if Kernel.FLASHMLA in available((capability.major, capability.minor), heads):
            self._flashmla = FlashMlaStep.first(self.model_config.max_model_len, device)

    def build(self, common_prefix_len: int, common_attn_metadata: Any, fast_build: bool = False) -> Nvfp4Metadata:
        """Return the step's metadata."""
        metadata: Nvfp4Metadata = super().build(common_prefix_len, common_attn_metadata, fast_build)
        if self._flashmla is not None:
            metadata.flashmla = self._flashmla.begin()
        if self._decodes_contexts and metadata.num_prefills:
            metadata.chunks = self._chunks(metadata, common_attn_metadata)
        return metadata

    def _chunks(self, metadata: Nvfp4Metadata, common: Any) -> tuple[Chunk, ...]:
        first = metadata.num_decodes
        longest = self.model_config.max_model_len
        # Exact for prompts, and on the host: nothing waits for the GPU.
        tokens = common.seq_lens_cpu_upper_bound[first : first + metadata.num_prefills].clamp(max=longest)
        bounds = split_prefill_chunks(tokens, longest, first)
        lengths = tokens.tolist()
        chunks = ((start, lengths[start - first : end - first]) for start, end in bounds)
        return tuple(self._chunk(metadata, common, start, each) for start, each in chunks)

    def _chunk(self, metadata: Nvfp4Metadata, common: Any, start: int, lengths: list[int]) -> Chunk:
        end = start + len(lengths)
        begins = common.query_start_loc_cpu
        tokens = slice(int(begins[start]), int(begins[end]))
        return Chunk(
            tokens=tokens,
            block_table=metadata.block_table[start:end],
            starts=async_tensor_h2d([0, *accumulate(lengths)], self.device, torch.int32),
            requests=metadata.req_id_per_token[tokens] - start,
            rows=sum(lengths),
            longest=max(lengths),
        )
