"""Writing rows where vLLM 0.31 cannot: its fused writer has an instruction that only Blackwell has.

`models/deepseek_v32/attention.py` normalizes, rotates and writes a step's latents in one Triton kernel, whose NVFP4
branch is `cvt.rn.satfinite.e2m1x2` in PTX; ptxas refuses it for 9.0. Below, that kernel does all but the write, as it
does under PCP, and our writer the rest.
"""

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import Any

from torch import Tensor, empty_like

from components.kvcache.rows import NVFP4_DS_MLA
from components.kvcache.writer import write_rotated_rows

_MODEL = "vllm.models.deepseek_v32.attention"
_OURS = "_writes_nvfp4_rows_apart"


def take_over() -> None:
    """Write the NVFP4 rows of this process's DSA layers by our kernel from here on; others stay with vLLM's."""
    model: Any = import_module(_MODEL)
    if not hasattr(model.fused_norm_rope, _OURS):
        model.fused_norm_rope = apart(model.fused_norm_rope)


def apart(fused: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Return vLLM's `fused_norm_rope` with the write of NVFP4 rows taken out of it and done after it.

    Rows get the bytes of vLLM's writers but where the normed latent, which now passes through the activations' dtype,
    rounds to another e2m1 value: as in vLLM's unfused writer, which reads that too.
    """
    signature = inspect.signature(fused)

    def fused_norm_rope(*args: Any, **kwargs: Any) -> Tensor:
        call = signature.bind(*args, **kwargs)
        given = call.arguments
        if given.get("mla_kv_cache_dtype") != NVFP4_DS_MLA.cache_dtype:
            return fused(*args, **kwargs)
        # The dtype as well: the branch is compiled even where there is no cache, as when vLLM measures its memory.
        cache = given.pop("mla_kv_cache", None)
        given["mla_kv_cache_dtype"] = "auto"
        if given.get("kv_c_out") is None:
            given["kv_c_out"] = empty_like(given["kv_c"])
        query = fused(*call.args, **call.kwargs)
        if cache is not None:
            latent = given["kv_c_out"]
            slots, positions = given["slot_mapping"][: len(latent)], given["positions"]
            turn = {"positions": positions, "cos_sin": given["k_rope_cos_sin_cache"]}
            write_rotated_rows(latent, given["k_pe"], slots, cache, **turn)
        return query

    setattr(fused_norm_rope, _OURS, True)
    return fused_norm_rope
