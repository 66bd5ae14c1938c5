"""Runs vLLM's own row writer by Triton's interpreter and saves what it wrote: a process of its own.

The writer is the kernel of vLLM 0.31 `models/deepseek_v32/common/kernels.py` with all its arithmetic. Two things are
put in its way, as they are instructions of the GPU that the interpreter lacks or gets wrong: the inline
`cvt.rn.satfinite.e2m1x2.f32`, and the rounding of float32 to e4m3 and bf16 (Triton 3.9's interpreter truncates to bf16,
and loses the carry and the denormals of e4m3). Both come from the tests' tables.

usage: TRITON_INTERPRET=1 python -m tests.engines.vllm_writer OUT.npz
"""

import os
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl
import vllm
import vllm.triton_utils
from triton.runtime import interpreter

from components.kvcache.rows import ROWS, Row
from tests.components.kvcache import oracle

TOKENS = 64
SLOT_STRIDE = 3
BLOCK_TOKENS = 16
POISON = 0xAA

_CONVERSION = "cvt.rn.satfinite.e2m1x2.f32 t, $2, $1;"
_NAMES = {"bfloat16": "auto", "fp8_e4m3": "fp8"}


def main(out: Path) -> None:
    assert os.environ["TRITON_INTERPRET"] == "1"
    _mend_interpreter()
    writer = _load_writer()
    arrays: dict[str, Any] = {}
    for name, row in ROWS.items():
        latent, rope, cache = _write(writer, row)
        arrays |= {f"{name}.latent": latent, f"{name}.rope": rope, f"{name}.cache": cache}
    np.savez(out, **arrays)


def _write(writer: ModuleType, row: Row) -> tuple[Any, Any, Any]:
    """Write tokens into paged rows; the normed latent, the rotated RoPE values and the whole cache."""
    torch.manual_seed(0)
    raw = torch.randn(TOKENS, 512).bfloat16()
    raw[1, :100] = 0.0
    raw[2] = 0.0
    # The norm's weights spread the groups over all scales, the floor included.
    weights = torch.exp2(torch.linspace(-14, 9, 512)) * torch.where(torch.rand(512) < 0.5, -1.0, 1.0)
    latent, rope = torch.empty(TOKENS, 512), torch.empty(TOKENS, 64)
    blocks = -(-TOKENS * SLOT_STRIDE // BLOCK_TOKENS)
    cache = torch.full((blocks, BLOCK_TOKENS, row.row_bytes), POISON, dtype=torch.uint8)
    writer.fused_norm_rope(
        torch.arange(TOKENS),
        torch.randn(TOKENS, 128),
        torch.ones(128),
        1e-6,
        raw,
        weights,
        1e-6,
        torch.randn(TOKENS, 64).bfloat16() * 30,
        torch.randn(TOKENS, 64),
        index_k=None,
        index_k_layer_norm_w=None,
        index_k_layer_norm_bias=None,
        index_k_layer_norm_eps=1e-6,
        index_k_rope_cos_sin_cache=None,
        topk_indices_buffer=torch.zeros(TOKENS, 2048, dtype=torch.int32),
        slot_mapping=torch.arange(TOKENS) * SLOT_STRIDE,
        mla_kv_cache=cache.view(torch.bfloat16) if row.cache_dtype == "bfloat16" else cache,
        mla_kv_cache_dtype=_NAMES.get(row.cache_dtype, row.cache_dtype),
        has_indexer=False,
        kv_c_out=latent,
        k_pe_out=rope,
    )
    return latent.numpy(), rope.numpy(), cache.flatten(0, 1).numpy()


def _load_writer() -> ModuleType:
    # vLLM for CPUs has placeholders where it finds no GPU for Triton.
    vllm.triton_utils.tl, vllm.triton_utils.triton = tl, triton
    path = Path(vllm.__file__).parent / "models" / "deepseek_v32" / "common" / "kernels.py"
    spec = spec_from_file_location("writer", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _mend_interpreter() -> None:
    def inline(_builder: Any, asm: str, _constraints: str, values: list[Any], *_: Any) -> Any:
        assert _CONVERSION in asm, asm
        low, high = (oracle.e2m1(value.data) for value in values)
        result = interpreter.TensorHandle((low + 16 * high).astype(np.int32), tl.int32)
        return SimpleNamespace(get_result=lambda _number: result)

    convert = interpreter._convert_float

    def rounded(values: Any, source: Any, target: Any, mode: Any) -> Any:
        if source == tl.float32 and target in (tl.float8e4nv, tl.bfloat16):
            return (oracle.e4m3 if target == tl.float8e4nv else oracle.bf16)(values)
        return convert(values, source, target, mode)

    interpreter.InterpreterBuilder.create_inline_asm = inline
    interpreter._convert_float = rounded


if __name__ == "__main__":
    main(Path(sys.argv[1]))
