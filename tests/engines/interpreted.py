"""Our backend under vLLM 0.31's layer, builder and cache, on CPU tensors: Triton's interpreter runs the kernels.

A program, not a test: the interpreter is chosen when Triton is imported, and vLLM switches its own kernels off where it
finds no GPU. It prints what `test_kv_backend.py` looks at, as JSON.
"""

import importlib.metadata
import json
import os
import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.engines import glm53, pretending

HEADS = 64
NAME = "model.layers.0.attn"
SELECTED = 128
# Of three requests: tokens of this step and tokens in all, the step's among them.
STEP = [(1, 150), (4, 70), (20, 200)]
BLOCKS = [[5, 7, 2, 0], [1, 3, 0, 0], [8, 10, 4, 6]]
POOL = 12


def interpret() -> None:
    """Let vLLM's own kernels be Triton's: it looks for a GPU once, when its `triton_utils` are imported."""
    platforms: Any = import_module("vllm.platforms")
    assert platforms.current_platform.device_type == "cpu"
    real = importlib.metadata.version
    with pytest.MonkeyPatch.context() as patch:
        # The package for CPUs has another name, under which vLLM does not look.
        patch.setattr(importlib.metadata, "version", lambda name: "0.31.0" if name == "vllm" else real(name))
        assert import_module("vllm.triton_utils").HAS_TRITON


def configured(folder: Path) -> Any:
    """vLLM's configuration of GLM-5.3 on our backend."""
    import_module("components.kvcache.vllm_backend").register()
    engine: Any = import_module("vllm.engine.arg_utils")
    return engine.EngineArgs(
        model=str(glm53.folder(folder / "glm")),
        attention_backend="CUSTOM",
        kv_cache_dtype="nvfp4_ds_mla",
        block_size=64,
        max_model_len=256,
        max_num_seqs=8,
        max_num_batched_tokens=512,
        skip_tokenizer_init=True,
        hf_overrides={"index_topk": SELECTED},
    ).create_engine_config()


def layer_of(config: Any, folder: Path) -> Any:
    """One attention layer of GLM-5.3 on one rank, as vLLM's model makes it."""
    distributed: Any = import_module("vllm.distributed")
    distributed.init_distributed_environment(1, 0, f"file://{folder}/meeting", 0, backend="gloo")
    distributed.ensure_model_parallel_initialized(1, 1)
    linear: Any = import_module("vllm.model_executor.layers.linear")
    return import_module("vllm.model_executor.layers.attention").MLAAttention(
        num_heads=HEADS,
        scale=256**-0.5,
        qk_nope_head_dim=192,
        qk_rope_head_dim=64,
        v_head_dim=256,
        q_lora_rank=2048,
        kv_lora_rank=512,
        kv_b_proj=linear.ColumnParallelLinear(512, HEADS * (192 + 256), bias=False, prefix="kv_b_proj"),
        cache_config=config.cache_config,
        prefix=NAME,
        use_sparse=True,
        topk_indices_buffer=None,
    )


def cache_of(layer: Any, spec: Any) -> Tensor:
    """The layer's cache as vLLM binds it, block outermost, between another layer's pages; filled with NaN's bytes."""
    interface: Any = import_module("vllm.v1.kv_cache_interface")
    page, stride = spec.page_size_bytes, 3 * spec.page_size_bytes + 64 * 132
    raw = torch.full((POOL * stride,), -1, dtype=torch.int8)
    tensor = interface.KVCacheTensor(
        size=POOL * stride, layers=[NAME], layer_stride=page, block_stride=stride, offset=page
    )
    (view,) = interface.create_kv_cache_views(raw, spec, POOL, interface.KVCacheLayout.BLHNC, tensor)
    layer.bind_kv_cache(view)
    found: Tensor = layer.kv_cache
    return found


def decoded(rows: Tensor) -> Tensor:
    """What rows of 352 bytes hold, by the table of their bytes: `[..., 576]` float64."""
    values = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6], dtype=torch.float64)
    values = torch.cat([values, -values])
    packed = rows[..., :256].long()
    latent = torch.stack([values[packed & 15], values[packed >> 4]], dim=-1).flatten(-2)
    at = torch.tensor([320 + 8 * (group & 3) + (group >> 2) for group in range(32)])
    scales = rows[..., at].view(torch.float8_e4m3fn).double().repeat_interleave(16, dim=-1)
    rope = rows[..., 256:320].contiguous().view(torch.float8_e4m3fn).double()
    return torch.cat([latent * scales, rope], dim=-1)


def attention(query: Tensor, contexts: list[Tensor], selected: Tensor, requests: Tensor, scale: float) -> Tensor:
    """Attention in float64, of each token over its selected rows of its request."""
    out = torch.zeros(*query.shape[:2], 512, dtype=torch.float64)
    for token, (request, row) in enumerate(zip(requests.tolist(), selected, strict=True)):
        keys = contexts[request][row[row >= 0].long()]
        weights = torch.softmax(scale * query[token].double() @ keys.T, dim=-1)
        out[token] = weights @ keys[:, :512]
    return out


@dataclass(frozen=True)
class Case:
    """A step of three requests on the layer.

    Attributes:
        layer: The layer.
        builder: Its metadata builder.
        cache: Its cache, all contexts written.
        latent: `[rows, 576]`, what was written, request by request.
        selected: `[tokens, SELECTED]`.
        query: `[tokens, HEADS, 576]`.
    """

    layer: Any
    builder: Any
    cache: Tensor
    latent: Tensor
    selected: Tensor
    query: Tensor

    @classmethod
    def of(cls, layer: Any, config: Any) -> "Case":
        """Write three contexts by the layer's own way to write, and draw what the step asks."""
        backend = layer.get_attn_backend()
        spec = backend.customize_spec(layer.get_kv_cache_spec(config))
        cache = cache_of(layer, spec)
        random = torch.Generator().manual_seed(7)
        latent = torch.randn(sum(total for _, total in STEP), 576, generator=random).bfloat16()
        padding = torch.full((2, 576), torch.nan, dtype=torch.bfloat16)
        tokens, slots = torch.cat([latent, padding]), torch.cat([slots_of(), torch.tensor([-1])])
        layer.impl.do_kv_cache_update(
            tokens[:, :512], tokens[:, 512:].unsqueeze(1), cache, slots, layer.kv_cache_dtype, layer._k_scale
        )
        query = torch.randn(sum(new for new, _ in STEP), HEADS, 576, generator=random).bfloat16()
        builder = backend.get_builder_cls()(spec, [NAME], config, torch.device("cpu"))
        layer.impl.topk_indices_buffer = torch.full((512, SELECTED), -1, dtype=torch.int32)
        selected = layer.impl.topk_indices_buffer[: len(query)]
        selected.copy_(chosen(random))
        return cls(layer, builder, cache, latent, selected, query)

    def metadata(self) -> Any:
        """The step as vLLM's builder and ours make it."""
        common: Any = import_module("vllm.v1.attention.backend").CommonAttentionMetadata
        begins = torch.tensor([0, *(new for new, _ in STEP)], dtype=torch.int32).cumsum(0, dtype=torch.int32)
        lengths = torch.tensor([total for _, total in STEP], dtype=torch.int32)
        given = common(
            query_start_loc=begins,
            query_start_loc_cpu=begins,
            seq_lens=lengths,
            seq_lens_cpu_upper_bound=lengths,
            num_reqs=len(STEP),
            num_actual_tokens=len(self.query),
            max_query_len=20,
            max_seq_len=200,
            block_table_tensor=torch.tensor(BLOCKS, dtype=torch.int32),
            slot_mapping=torch.full((len(self.query),), -1),
        )
        return self.builder.build(0, given)

    def error(self, metadata: Any, dtype: torch.dtype = torch.bfloat16, heads: int = HEADS) -> float:
        """How far the layer's attention is from float64's over the rows as stored, of the largest value."""
        query = self.query[:, :heads].to(dtype)
        found, lse = self.layer.impl.forward_mqa(query.split([512, 64], -1), self.cache, metadata, self.layer)
        assert lse is None
        rows = [decoded(torch.cat([self.cache[block] for block in blocks])) for blocks in BLOCKS]
        wanted = attention(query, rows, self.selected, metadata.req_id_per_token, self.layer.impl.scale)
        return float((found.double() - wanted).abs().max() / wanted.abs().max())


def slots_of() -> Tensor:
    """Slots of all tokens, request by request."""
    return torch.cat(
        [
            torch.tensor([BLOCKS[request][at // 64] * 64 + at % 64 for at in range(total)])
            for request, (_, total) in enumerate(STEP)
        ]
    )


def chosen(random: torch.Generator) -> Tensor:
    """What the indexer would select: up to SELECTED positions before each token, in no order, the rest empty."""
    rows = []
    for new, total in STEP:
        for at in range(total - new, total):
            found = torch.randperm(at + 1, generator=random)[:SELECTED].int()
            rows.append(torch.nn.functional.pad(found, (0, SELECTED - len(found)), value=-1))
    # Holes as well, and a token without any.
    rows[3][::5] = -1
    rows[2][:] = -1
    return torch.stack(rows)


def flash_mla_sparse_fwd(
    query: Tensor, rows: Tensor, indices: Tensor, scale: float, *, topk_length: Tensor, out: Tensor | None
) -> tuple[Tensor, None, None]:
    """FlashMLA's bf16 kernel, in float64: its CUDA is not here. It reads the first `topk_length` of each selection."""
    assert query.is_contiguous()
    assert query.shape[1] % 64 == 0
    assert rows.shape[1:] == (1, 576)
    assert indices.shape[1] == 1
    selected = torch.where(torch.arange(indices.shape[2]) < topk_length[:, None], indices[:, 0], -1)
    here = torch.zeros(len(query), dtype=torch.int32)
    found = attention(query, [rows[:, 0].double()], selected, here, scale).bfloat16()
    if out is None:
        return found, None, None
    assert out.is_contiguous()
    return out.copy_(found), None, None


def long_turns(case: Case) -> dict[str, Any]:
    """The step where FlashMLA is installed: the long turn passes through the workspace."""
    impl: Any = import_module("components.kvcache.vllm_backend.impl")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(impl, "flash_mla_sparse_fwd", flash_mla_sparse_fwd)
        patch.setattr(case.layer.impl, "_context_rows", 256)
        patch.setattr(case.builder, "_decodes_contexts", True)
        metadata = case.metadata()
        (chunk,) = metadata.chunks
        return {
            "tokens": [chunk.tokens.start, chunk.tokens.stop],
            "starts": chunk.starts.tolist(),
            "error": case.error(metadata),
            # 48 heads are padded to 64.
            "padded_error": case.error(metadata, heads=48),
        }


def flash_mla_with_kvcache(*, q: Tensor, k_cache: Tensor, indices: Tensor, **given: Any) -> tuple[Tensor, None]:
    """FlashMLA's decode kernel, in float64: its CUDA is not here."""
    assert (q.shape[0], q.shape[2], k_cache.shape[1:], indices.shape[0]) == (1, 64, (64, 1, 352), 1)
    assert given["is_fp8_kvcache"]
    assert given["tile_scheduler_metadata"] is not None
    assert given["cache_seqlens"].tolist() == [256]
    assert given["head_dim_v"] == 512
    here = torch.zeros(q.shape[1], dtype=torch.int32)
    rows = decoded(k_cache.flatten(0, 2))
    return attention(q[0], [rows], indices[0], here, given["softmax_scale"])[None], None


def nvfp4_sparse_mla_decode(
    query: Tensor, kv_cache: Tensor, indices: Tensor, *, bmm1_scale: float, out: Tensor
) -> None:
    """FlashInfer's kernel, in float64, with its checks of what it is given."""
    assert all(each.is_contiguous() for each in (query, kv_cache, indices, out))
    assert (query.dtype, query.shape[1:]) == (torch.float8_e4m3fn, (16, 576))
    assert (kv_cache.dtype, kv_cache.shape[1:]) == (torch.uint8, (352,))
    assert indices.shape[1] % 32 == 0
    here = torch.zeros(len(query), dtype=torch.int32)
    out.copy_(attention(query.double(), [decoded(kv_cache)], indices, here, bmm1_scale))


def of_others(case: Case, patch: pytest.MonkeyPatch) -> dict[str, float]:
    """The step on compute capability 10.0, by the kernels of others."""
    others: Any = import_module("components.kvcache.vllm_backend.others")
    kernel: Any = import_module("components.kvcache.choice").Kernel
    mla: Any = ModuleType("flashinfer.mla")
    mla.nvfp4_sparse_mla_decode = nvfp4_sparse_mla_decode
    patch.setitem(sys.modules, "flashinfer.mla", mla)
    patch.setattr(others, "flash_mla_with_kvcache", flash_mla_with_kvcache)
    patch.setattr(case.layer.impl, "_capability", (10, 0))
    patch.setattr(case.layer.impl, "_available", frozenset(kernel))
    patch.setattr(others, "get_mla_metadata", lambda: (object(), None))
    patch.setattr(case.builder, "_flashmla", others.FlashMlaStep.first(256, torch.device("cpu")))
    metadata = case.metadata()
    # Values that e4m3 has, so that FlashInfer's query is not rounded.
    case.query.copy_(case.query.to(torch.float8_e4m3fn).bfloat16())
    return {"flashmla": case.error(metadata), "flashinfer": case.error(metadata, heads=16)}


def fused(case: Case) -> dict[str, Any]:
    """The model's fused kernel with our write behind it, on tokens of which one has no slot."""
    model: Any = import_module("vllm.models.deepseek_v32.attention")
    random = torch.Generator().manual_seed(11)
    tokens, slots = 3, torch.tensor([700, -1, 65])
    query, latent, rope = (torch.randn(tokens, size, generator=random).bfloat16() for size in (128, 512, 64))
    weight = torch.rand(512, generator=random).bfloat16() + 0.5
    angles = torch.rand(16, 32, generator=random) * 6
    before = case.cache.clone()
    made = model.fused_norm_rope(
        positions := torch.tensor([3, 9, 15]),
        query,
        torch.ones(128, dtype=torch.bfloat16),
        1e-5,
        latent,
        weight,
        1e-5,
        rope,
        torch.cat([angles.cos(), angles.sin()], dim=-1),
        None,
        None,
        None,
        1e-6,
        None,
        torch.zeros(tokens, SELECTED, dtype=torch.int32),
        slot_mapping=slots,
        mla_kv_cache=case.cache,
        mla_kv_cache_dtype="nvfp4_ds_mla",
        mla_k_scale=torch.ones(1, dtype=torch.float32),
        has_indexer=False,
        kv_c_out=torch.empty_like(latent),
        k_pe_out=torch.empty_like(rope),
    )
    exact, turns = latent.double(), torch.polar(torch.ones(16, 32), angles)[positions].to(torch.complex128)
    normed = exact / (exact.square().mean(-1, keepdim=True) + 1e-5).sqrt() * weight.double()
    turned = torch.view_as_real(torch.view_as_complex(rope.double().unflatten(-1, (32, 2))) * turns).flatten(-2)
    rows = decoded(case.cache.flatten(0, 1)[slots[slots >= 0]])
    written = torch.ones(POOL * 64, dtype=torch.bool)
    written[slots[slots >= 0]] = False
    kept = slots >= 0
    return {
        "query_rows": len(made),
        "latent": float((rows[:, :512] - normed[kept]).norm() / normed[kept].norm()),
        "rope": float((rows[:, 512:] - turned[kept]).abs().max() / turned[kept].abs().max()),
        "others_unchanged": bool(torch.equal(before.flatten(0, 1)[written], case.cache.flatten(0, 1)[written])),
    }


def main(folder: Path) -> None:
    """Run the cases in a folder of their own."""
    assert os.environ["TRITON_INTERPRET"] == "1"
    interpret()
    import_module("vllm.models.deepseek_v32.attention")
    patch = pytest.MonkeyPatch()
    pretending.pretend(patch, (9, 0))
    patch.setattr(torch.accelerator, "empty_cache", lambda: None)
    config = configured(folder)
    workspace: Any = import_module("vllm.v1.worker.workspace")
    workspace.init_workspace_manager(torch.device("cpu"))
    with import_module("vllm.config").set_current_vllm_config(config):
        torch.set_default_dtype(torch.bfloat16)
        layer = layer_of(config, folder)
        torch.set_default_dtype(torch.float32)
        # As vLLM does before it serves: whoever then asks for more than was reserved ends the engine.
        workspace.lock_workspace()
        case = Case.of(layer, config)
        rows = decoded(case.cache.flatten(0, 1)[slots_of()])
        threshold = case.builder.reorder_batch_threshold
        # The interpreter is slow: a long turn of 20 tokens is long enough here.
        case.builder.reorder_batch_threshold = 8
        metadata = case.metadata()
        result = {
            "short_turn_tokens": threshold,
            "cache": {"shape": list(case.cache.shape), "strides": list(case.cache.stride())},
            "written": float((rows - case.latent.double()).norm() / case.latent.double().norm()),
            "split": [metadata.num_decodes, metadata.num_prefills, metadata.num_decode_tokens, len(metadata.chunks)],
            "long_turns": long_turns(case),
            "stored": {str(dtype): case.error(metadata, dtype) for dtype in (torch.float32, torch.bfloat16)},
            "fused": fused(case),
            "others": of_others(case, patch),
        }
    sys.stdout.write(f"\n{json.dumps(result)}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
