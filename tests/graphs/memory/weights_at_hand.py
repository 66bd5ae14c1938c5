"""Checkpoints of a tiny GLM-MoE-DSA, written by safetensors itself under the names that transformers 5.24 saves."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from safetensors import TensorSpec, serialize_file

CONFIG = {
    "model_type": "glm_moe_dsa",
    "vocab_size": 160,
    "hidden_size": 64,
    "intermediate_size": 96,
    "moe_intermediate_size": 32,
    "num_hidden_layers": 5,
    "first_k_dense_replace": 1,
    "num_nextn_predict_layers": 1,
    "num_attention_heads": 2,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "n_shared_experts": 1,
    "q_lora_rank": 48,
    "kv_lora_rank": 512,
    "qk_rope_head_dim": 64,
    "qk_nope_head_dim": 32,
    "v_head_dim": 16,
    "index_n_heads": 2,
    "index_head_dim": 128,
    "index_topk_freq": 2,
    "index_skip_topk_offset": 1,
    "max_position_embeddings": 128,
}
TRANSFORMERS_BYTES = 1_461_376
"""What `GlmMoeDsaForCausalLM` of this configuration has in bf16, by the index that its `save_pretrained` writes."""

_BYTES = {"bfloat16": 2, "float32": 4, "float8_e4m3fn": 1, "uint8": 1}

Tensors = dict[str, tuple[str, tuple[int, ...]]]
"""Type and shape by name."""


def model(experts: str = "bf16") -> Tensors:
    """All layers without MTP; the routed experts in bf16, fp8 or nvfp4."""
    found: Tensors = dict.fromkeys(("lm_head.weight", "model.embed_tokens.weight"), ("bfloat16", (160, 64)))
    found["model.norm.weight"] = ("bfloat16", (64,))
    for layer in range(5):
        found |= _layer(f"model.layers.{layer}", experts, indexer=layer % 2 == 0, dense=layer == 0)
    return found


def mtp(experts: str = "bf16") -> Tensors:
    """The MTP layer, with copies of embeddings and head as released checkpoints may have them."""
    layer = "model.layers.5"
    own = {"eh_proj.weight": (64, 128), "enorm.weight": (64,), "hnorm.weight": (64,), "shared_head.norm.weight": (64,)}
    copies = {"embed_tokens.weight": (160, 64), "shared_head.head.weight": (160, 64)}
    found: Tensors = {f"{layer}.{name}": ("bfloat16", shape) for name, shape in {**own, **copies}.items()}
    return found | _layer(layer, experts, indexer=True, dense=False)


def _layer(layer: str, experts: str, *, indexer: bool, dense: bool) -> Tensors:
    attention = {
        "q_a_proj": (48, 64),
        "q_b_proj": (192, 48),
        "kv_a_proj_with_mqa": (576, 64),
        "kv_b_proj": (96, 512),
        "o_proj": (64, 32),
        "q_a_layernorm": (48,),
        "kv_a_layernorm": (512,),
    }
    keys = {"wq_b": (256, 48), "wk": (128, 64), "weights_proj": (2, 64), "k_norm": (128,)}
    found: Tensors = {f"{layer}.self_attn.{name}.weight": ("bfloat16", shape) for name, shape in attention.items()}
    for norm in ("input_layernorm", "post_attention_layernorm"):
        found[f"{layer}.{norm}.weight"] = ("bfloat16", (64,))
    if indexer:
        found |= {f"{layer}.self_attn.indexer.{name}.weight": ("bfloat16", shape) for name, shape in keys.items()}
        found[f"{layer}.self_attn.indexer.k_norm.bias"] = ("bfloat16", (128,))
    if dense:
        return found | dict(_matrices(f"{layer}.mlp", 96, "bf16"))
    found[f"{layer}.mlp.gate.weight"] = ("bfloat16", (4, 64))
    found[f"{layer}.mlp.gate.e_score_correction_bias"] = ("bfloat16", (4,))
    for expert in range(4):
        found |= dict(_matrices(f"{layer}.mlp.experts.{expert}", 32, experts))
    return found | dict(_matrices(f"{layer}.mlp.shared_experts", 32, "bf16"))


def _matrices(module: str, inner: int, number_format: str) -> Iterator[tuple[str, tuple[str, tuple[int, ...]]]]:
    for name, (out, into) in {"gate": (inner, 64), "up": (inner, 64), "down": (64, inner)}.items():
        weight = f"{module}.{name}_proj.weight"
        if number_format == "bf16":
            yield weight, ("bfloat16", (out, into))
        elif number_format == "fp8":
            yield weight, ("float8_e4m3fn", (out, into))
            yield f"{weight}_scale_inv", ("float32", (1, 1))
        else:
            yield weight, ("uint8", (out, into // 2))
            yield f"{weight}_scale", ("float8_e4m3fn", (out, into // 16))
            yield f"{weight}_scale_2", ("float32", ())
            yield f"{module}.{name}_proj.input_scale", ("float32", ())


def save(folder: Path, tensors: Tensors, shards: int = 1) -> Path:
    """Write a checkpoint's folder: configuration, files, and an index where there are several."""
    (folder / "config.json").write_text(json.dumps(CONFIG))
    names = sorted(tensors)
    placed: dict[str, str] = {}
    for shard in range(shards):
        file = f"model-{shard + 1:05d}-of-{shards:05d}.safetensors" if shards > 1 else "model.safetensors"
        own = names[shard::shards]
        placed |= dict.fromkeys(own, file)
        write(folder / file, {name: tensors[name] for name in own})
    if shards > 1:
        (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": placed}))
    return folder


def write(path: Path, tensors: Tensors) -> None:
    """Write one file, its values all zero."""
    data = {name: np.zeros(size(*each), dtype=np.uint8) for name, each in tensors.items()}
    specs = {
        name: TensorSpec(dtype=dtype, shape=list(shape), data_ptr=data[name].ctypes.data, data_len=data[name].size)
        for name, (dtype, shape) in tensors.items()
    }
    serialize_file(specs, str(path), {"format": "pt"})


def size(dtype: str, shape: tuple[int, ...]) -> int:
    """Bytes of a tensor."""
    return _BYTES[dtype] * int(np.prod(shape, dtype=np.int64))
