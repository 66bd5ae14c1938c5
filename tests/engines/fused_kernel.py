"""Compiles vLLM 0.31's fused kernel of a DSA layer ahead of time, for GPUs that are not here, with and without rows.

A program, not a test: vLLM switches its kernels off where it finds no GPU, and they are made when they are imported. It
prints for each GPU and cache dtype what stopped the compiler, or nothing, as JSON.
"""

import inspect
import json
import sys
from importlib import import_module
from typing import Any

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.runtime.errors import PTXASError

from tests.engines.interpreted import interpret

CAPABILITIES = (90, 100, 120)
# As GLM-5.3's layers without an indexer call it (`fused_norm_rope` of the same file).
SIZES = {
    "Q_DIM": 2048,
    "Q_BLOCK_SIZE": 2048,
    "KV_DIM": 512,
    "KPE_HALF_ROT_DIM": 32,
    "INDEX_K_DIM": 128,
    "INDEX_K_BLOCK_SIZE": 128,
    "INDEX_K_HALF_ROT_DIM": 32,
    "INDEXER_CACHE_SHUFFLE": False,
    "INDEXER_CACHE_BLOCK_TILE": 16,
    "INDEXER_CACHE_HEAD_TILE": 16,
    "MLA_CACHE_FP8": False,
    "MLA_CACHE_DS_MLA": False,
    "TOPK": 2048,
    "TOPK_BLOCK_SIZE": 1024,
    "HAS_INDEXER": False,
    "INDEX_ROPE_INTERLEAVE": True,
    "USE_PDL": True,
    "FP8_MAX": 448.0,
    "USE_FNUZ": False,
}
NVFP4 = {"MLA_CACHE_BLOCK_SIZE": 64, "MLA_CACHE_NVFP4": True, "MLA_NUM_TILES": 32, "MLA_TILE_DIM": 16}
NO_ROWS = {"MLA_CACHE_BLOCK_SIZE": 1, "MLA_CACHE_NVFP4": False, "MLA_NUM_TILES": 1, "MLA_TILE_DIM": 1}
ABSENT = ("indexer_slot_mapping_ptr", "indexer_cache_ptr", "indexer_cache_scale_ptr", "index_k_out_ptr")
POINTERS = {
    "pos_ptr": "*i64",
    "slot_mapping_ptr": "*i64",
    "topk_indices_ptr": "*i32",
    "mla_cache_scale_ptr": "*fp32",
    "mla_cache_ds_scale_ptr": "*fp32",
    "kpe_rope_cos_sin_cache_ptr": "*fp32",
    "index_k_rope_cos_sin_cache_ptr": "*fp32",
}


def type_of(name: str) -> str:
    """An argument's type: vLLM names pointers so, and whatever is no epsilon is a stride or a size."""
    if name.endswith("_ptr"):
        return POINTERS.get(name, "*bf16")
    return "fp32" if name.endswith("eps") else "i32"


def problem(kernel: Any, capability: int, rows: dict[str, Any]) -> str | None:
    """What ptxas says against the kernel on a GPU of this capability."""
    constants = SIZES | rows
    declared = inspect.signature(kernel.fn).parameters.items()
    assert {name for name, each in declared if "constexpr" in str(each.annotation)} == set(constants)
    constants |= dict.fromkeys(ABSENT)
    signature = {name: "constexpr" if name in constants else type_of(name) for name in kernel.arg_names}
    if rows["MLA_CACHE_NVFP4"]:
        signature["mla_cache_ptr"] = "*fp8e4nv"
    try:
        source = ASTSource(kernel, signature=signature, constexprs=constants)
        triton.compile(source, target=GPUTarget("cuda", capability, 32))
    except PTXASError as error:
        return str(error)
    return None


def main() -> None:
    """Compile it for each."""
    interpret()
    kernel = import_module("vllm.models.deepseek_v32.common.kernels")._fused_norm_rope_kernel
    found = {
        name: {capability: problem(kernel, capability, rows) for capability in CAPABILITIES}
        for name, rows in (("nvfp4_ds_mla", NVFP4), ("auto", NO_ROWS))
    }
    sys.stdout.write(f"\n{json.dumps(found)}\n")


if __name__ == "__main__":
    main()
