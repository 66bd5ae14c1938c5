"""Sparse MLA on `nvfp4_ds_mla` rows, as vLLM 0.31 calls it: writing a step's rows, and attending to selected ones."""

from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar

import torch
from torch import Tensor
from vllm.config import get_current_vllm_config
from vllm.model_executor.layers.attention.sparse_mla_attention import SparseMLACommonImpl
from vllm.platforms import current_platform
from vllm.v1.attention.backends.mla.sparse_utils import flat_kv_row_view, triton_convert_req_index_to_global_index
from vllm.v1.attention.ops.flashmla import flash_mla_sparse_fwd
from vllm.v1.worker.workspace import current_workspace_manager

from components.kvcache.attention import sparse_mla_decode
from components.kvcache.choice import Choice, Kernel, choose, read
from components.kvcache.reader import read_rows
from components.kvcache.vllm_backend import others, writing
from components.kvcache.vllm_backend.metadata import Chunk, Nvfp4Metadata, decodes_contexts
from components.kvcache.writer import write_rows

_BLACKWELL = 10
# What FlashMLA's bf16 kernel has its heads in, by the GPU's family.
_HEADS_AT_ONCE = {9: 64, 10: 128}


@cache
def _table() -> tuple[Choice, ...]:
    # Once: layers and captured graphs must not disagree because somebody writes a new table, nor end for a bad one.
    return read()


@cache
def _kernel(capability: tuple[int, int], heads: int, tokens: int, available: frozenset[Kernel]) -> Kernel:
    return choose(_table(), capability, heads, tokens, available)


@dataclass(frozen=True)
class Step:
    """What a layer computes in a step, or some tokens of it.

    Attributes:
        query: `[tokens, heads, 576]` bf16.
        rows: `[blocks, 64, 352]` uint8, the layer's cache.
        selected: `[tokens, selected]` int32: positions within the token's request, -1 where empty.
        metadata: The whole step's.
        out: `[tokens, heads, 512]` bf16, to be written.
    """

    query: Tensor
    rows: Tensor
    selected: Tensor
    metadata: Nvfp4Metadata
    out: Tensor

    def part(self, tokens: slice) -> "Step":
        """Return the same of some tokens."""
        return replace(self, query=self.query[tokens], selected=self.selected[tokens], out=self.out[tokens])


class Nvfp4SparseImpl(SparseMLACommonImpl):  # type: ignore[misc]  # vLLM is not checked.
    """Attention of one layer.

    Every token attends to the indexer's selection, prompts as well: vLLM's dense path for short prompts reads the cache
    by a CUDA op of which nothing says that it knows these rows.
    """

    supports_dense_mha_prefill: ClassVar[bool] = False
    # Neither was tried, and with DCP a rank's own rows are not what a token selects.
    supports_pcp: bool = False
    supports_dcp: bool = False

    def __init__(self, num_heads: int, head_size: int, scale: float, *args: Any, **kwargs: Any) -> None:
        super().__init__(num_heads, head_size, scale, *args, **kwargs)
        capability = current_platform.get_device_capability()
        self._capability = (capability.major, capability.minor)
        self._available = others.available(self._capability, num_heads)
        if capability.major < _BLACKWELL:
            writing.take_over()
        config = get_current_vllm_config()
        # The rows of one context of the longest length.
        self._context_rows = config.model_config.max_model_len if decodes_contexts(num_heads) else 0
        # Reserved now: vLLM measures what is left for KV without attention.
        self._buffers(config.scheduler_config.max_num_batched_tokens, num_heads, torch.bfloat16)

    def do_kv_cache_update(  # noqa: PLR0917 - vLLM's signature.
        self,
        kv_c_normed: Tensor,
        k_pe: Tensor,
        kv_cache: Tensor,
        slot_mapping: Tensor,
        kv_cache_dtype: str,
        k_scale: Tensor,
    ) -> None:
        """Write a step's rows, where the model does not write them in its own fused kernel."""
        del kv_cache_dtype, k_scale
        slots = slot_mapping.flatten()
        if kv_cache.numel():
            # Padded for CUDA graphs, the tokens may be more than the slots.
            write_rows(kv_c_normed[: len(slots)], k_pe.squeeze(1)[: len(slots)], slots, kv_cache)

    def forward_mqa(
        self, q: Tensor | tuple[Tensor, Tensor], kv_c_and_k_pe_cache: Tensor, attn_metadata: Nvfp4Metadata, layer: Any
    ) -> tuple[Tensor, None]:
        """Attend, each token to its selected rows.

        Args:
            q: `[tokens, heads, 576]`, or its 512 latent and its 64 RoPE values apart.
            kv_c_and_k_pe_cache: `[blocks, 64, 352]` uint8, in any layout.
            attn_metadata: The step.
            layer: The layer; nothing of it is needed, since rows have their own scales.

        Returns:
            `[tokens, heads, 512]`, and no log-sum-exp, which only DCP asks for.
        """
        del layer
        parts = q if isinstance(q, tuple) else (q,)
        tokens, heads, _ = parts[0].shape
        contexts, query, out = self._buffers(tokens, heads, parts[0].dtype)
        torch.cat(parts, dim=-1, out=query)
        step = Step(query, kv_c_and_k_pe_cache, self.topk_indices_buffer[:tokens], attn_metadata, out)
        stored = attn_metadata.num_decode_tokens if attn_metadata.chunks else tokens
        if stored:
            self._attend(step.part(slice(stored)))
        for chunk in attn_metadata.chunks:
            self._attend_decoded(step.part(chunk.tokens), chunk, contexts[: chunk.rows])
        return out, None

    def _attend(self, step: Step) -> None:
        tokens, heads, _ = step.query.shape
        metadata = step.metadata
        kernel = _kernel(self._capability, heads, tokens, self._available)
        if kernel is Kernel.FLASHINFER:
            flat, stride_rows = flat_kv_row_view(step.rows, metadata.block_size)
            others.flashinfer(step.query, flat, self._slots(step, stride_rows), scale=self.scale, out=step.out)
        elif kernel is Kernel.FLASHMLA and metadata.flashmla is not None:
            slots = self._slots(step, None)
            others.flashmla(step.query, step.rows, slots, scale=self.scale, step=metadata.flashmla, out=step.out)
        else:
            table = {"block_table": metadata.block_table, "requests": metadata.req_id_per_token[:tokens]}
            sparse_mla_decode(step.query, step.rows, step.selected, scale=self.scale, out=step.out, **table)

    def _slots(self, step: Step, stride_rows: int | None) -> Tensor:
        metadata, tokens = step.metadata, len(step.selected)
        if tokens == metadata.num_decode_tokens == metadata.num_actual_tokens and self.index_group is not None:
            # Once for all layers that share an indexer's selection.
            found: Tensor = self._convert_logical_to_physical_topk(
                step.selected, metadata, block_stride_rows=stride_rows, return_valid_counts=False
            )
            return found
        converted: Tensor = triton_convert_req_index_to_global_index(
            metadata.req_id_per_token[:tokens],
            metadata.block_table,
            step.selected,
            BLOCK_SIZE=metadata.block_size,
            BLOCK_STRIDE_ROWS=stride_rows,
            NUM_TOPK_TOKENS=step.selected.shape[1],
        )
        return converted

    def _attend_decoded(self, step: Step, chunk: Chunk, contexts: Tensor) -> None:
        read_rows(step.rows, chunk.block_table, chunk.starts, contexts, longest=chunk.longest)
        # To vLLM's kernel each context is one block, of the longest length, whose number is its first row.
        places, counts = triton_convert_req_index_to_global_index(
            chunk.requests,
            chunk.starts.unsqueeze(1),
            step.selected,
            BLOCK_SIZE=self._context_rows,
            BLOCK_STRIDE_ROWS=1,
            NUM_TOPK_TOKENS=step.selected.shape[1],
            return_valid_counts=True,
        )
        heads, at_once = step.query.shape[1], _HEADS_AT_ONCE[self._capability[0]]
        padded = -(-heads // at_once) * at_once
        found, *_ = flash_mla_sparse_fwd(
            others.pad_heads(step.query, padded),
            contexts.unsqueeze(1),
            places.unsqueeze(1),
            self.scale,
            topk_length=counts,
            out=step.out if padded == heads else None,
        )
        if padded != heads:
            step.out.copy_(found[:, :heads])

    def _buffers(self, tokens: int, heads: int, dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
        """Return room for decoded contexts, a step's query and its output; layers share it, one after the other."""
        contexts, query, out = current_workspace_manager().get_simultaneous(
            ((self._context_rows, self.head_size), torch.bfloat16),
            ((tokens, heads, self.head_size), dtype),
            ((tokens, heads, self.kv_lora_rank), dtype),
        )
        return contexts, query, out
