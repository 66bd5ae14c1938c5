"""HiSparse: pages of the KV cache in pinned host memory under a sparse-attention decoder.

Read in `config/vllm.py`, `config/kv_transfer.py` and `v1/hisparse/`.
"""

from collections.abc import Iterator

from graphs.checks.check import Check
from graphs.checks.engines.engine import NVFP4, Engine
from graphs.engines.transfer import HISPARSE, children


def hisparse(found: list[Engine]) -> Iterator[Check]:
    """What vLLM's HiSparse can be combined with."""
    for engine in found:
        pools = [child for child in children(engine.transfer) if child.get("kv_connector") == HISPARSE]
        if pools:
            yield from _pool(engine, pools)
            yield from _place(engine)
            yield from _shape(engine)
            yield from _scheduler(engine)
        elif (engine.settings.attention_config or {}).get("hisparse_config"):
            yield engine.refuse("attention-config", "hisparse_config needs its connector", "add hisparse to connectors")


def _pool(engine: Engine, pools: list[dict[str, object]]) -> Iterator[Check]:
    key = engine.connectors_key
    if len(pools) > 1:
        yield engine.refuse(key, f"{len(pools)} times {HISPARSE}", "keep one")
    extra = pools[0].get("kv_connector_extra_config")
    if not isinstance(extra, dict) or not extra.get("host_pool_gib"):
        yield engine.refuse(key, f"{HISPARSE} has no host_pool_gib", "set it to the GiB of host memory of each rank")


def _place(engine: Engine) -> Iterator[Check]:
    key = engine.connectors_key
    if engine.stage != "decode":
        yield engine.refuse(key, "HiSparse is for decode: prefill reads every page", "leave it out of prefill")
    if not engine.on_gpu:
        yield engine.refuse(key, "HiSparse needs NVIDIA GPUs", "leave it out")


def _shape(engine: Engine) -> Iterator[Check]:
    settings = engine.settings
    if (settings.decode_context_parallel_size or 1) > 1:
        yield engine.refuse("decode-context-parallel-size", "HiSparse does not go with DCP", "set it to 1")
    if (settings.pipeline_parallel_size or 1) > 1:
        yield engine.refuse("pipeline-parallel-size", "HiSparse does not go with pipeline parallelism", "set it to 1")
    if settings.kv_cache_dtype == NVFP4:
        found = f"{NVFP4}, and only rows of fp8_ds_mla can be gathered from the host"
        yield engine.refuse("kv-cache-dtype", found, "set fp8_ds_mla on both stages")
    if settings.kv_cache_layout != "BLHNC":
        found = f"{settings.kv_cache_layout or 'not set'}; HiSparse takes BLHNC, and prefill must have the same"
        yield engine.refuse("kv-cache-layout", found, "set BLHNC on both stages")


def _scheduler(engine: Engine) -> Iterator[Check]:
    settings = engine.settings
    if settings.model_runner_v2 is False:
        yield engine.refuse("model-runner-v2", "HiSparse is there in the second model runner only", "set it to true")
    if settings.scheduler_reserve_full_isl is False:
        yield engine.refuse("scheduler-reserve-full-isl", "HiSparse would wait for host pages for ever", "leave it on")
    if settings.disable_hybrid_kv_cache_manager:
        found = "HiSparse needs the hybrid KV cache manager"
        yield engine.refuse("disable-hybrid-kv-cache-manager", found, "leave it out")
    if engine.graphs == "FULL":
        found = "FULL, in which HiSparse does not copy prompts to the host"
        yield engine.refuse("compilation-config", found, "set cudagraph_mode to FULL_DECODE_ONLY or PIECEWISE")
