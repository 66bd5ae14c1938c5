"""PCP and DCP: ranks that share the computing of one prompt, and ranks that share one session's KV.

Read in `v1/worker/gpu/pcp_manager.py`, `nixl/connector.py`, `config/parallel.py` and `flashmla_sparse.py`.
"""

from collections.abc import Iterator

from graphs.checks.check import Check
from graphs.checks.engines.engine import FLASHMLA, FP8_ROWS, OURS, Engine
from graphs.config import Config
from graphs.engines.transfer import NIXL, children
from graphs.settings.frontend import FrontendSettings

_PCP = "prefill-context-parallel-size"
_DCP = "decode-context-parallel-size"
# With FLASHMLA_SPARSE each of them is served as fp8_ds_mla.
_AS_FP8_ROWS = {"fp8", "fp8_e4m3", FP8_ROWS}


def context_parallel(config: Config, found: list[Engine]) -> Iterator[Check]:
    """What vLLM's context parallelism can be combined with."""
    for engine in found:
        pcp = engine.settings.prefill_context_parallel_size or 1
        dcp = engine.settings.decode_context_parallel_size or 1
        if pcp > 1:
            yield from _prefill(engine)
            yield from _graphs(engine, dcp)
        if dcp > 1:
            yield from _events(config, engine, dcp)
            yield from _decode(engine)
            yield from _together(engine, pcp, dcp) if pcp > 1 else _over_tensor_ranks(engine, dcp)


def _prefill(engine: Engine) -> Iterator[Check]:
    settings = engine.settings
    if engine.backend == OURS:
        yield engine.refuse("attention-backend", f"{OURS}, which is ours, has no PCP", f"set {FLASHMLA} on both stages")
    if engine.stage == "decode":
        yield engine.refuse(_PCP, f"{NIXL} has PCP on prefill engines only", "leave it out of decode")
    if settings.model_runner_v2 is False:
        yield engine.refuse("model-runner-v2", "PCP is there in the second model runner only", "set it to true")
    if (settings.pipeline_parallel_size or 1) > 1:
        yield engine.refuse(_PCP, "it does not go with pipeline parallelism", "set pipeline-parallel-size: 1")
    if engine.drafts not in {None, "mtp", "dspark"}:
        yield engine.refuse("speculative-config", f"PCP does not draft by {engine.drafts}", "set method mtp, or none")
    if any(
        (child.get("kv_connector_extra_config") or {}).get("bidirectional_kv_xfer")
        for child in children(engine.transfer)
    ):
        yield engine.refuse(engine.connectors_key, "PCP moves KV one way", "leave bidirectional-kv-xfer out")


def _graphs(engine: Engine, dcp: int) -> Iterator[Check]:
    if dcp == 1 and engine.graphs != "NONE":
        found = f"{engine.graphs or 'the default'}; sparse MLA with PCP and without DCP has no CUDA graphs"
        yield engine.refuse("compilation-config", found, "set {cudagraph_mode: NONE}")
    elif engine.graphs == "FULL":
        found = "FULL, and PCP has full CUDA graphs for decode steps only"
        yield engine.refuse("compilation-config", found, "set cudagraph_mode to FULL_DECODE_ONLY or PIECEWISE")


def _decode(engine: Engine) -> Iterator[Check]:
    settings = engine.settings
    if engine.backend == OURS:
        yield engine.refuse("attention-backend", f"{OURS}, which is ours, has no DCP", f"set {FLASHMLA} on both stages")
    if engine.backend == "FLASHINFER_MLA_SPARSE" and (settings.prefill_context_parallel_size or 1) > 1:
        yield engine.refuse("attention-backend", f"{engine.backend} has no PCP with DCP", f"set {FLASHMLA}")
    if engine.backend == FLASHMLA and settings.kv_cache_dtype not in _AS_FP8_ROWS:
        found = f"{settings.kv_cache_dtype or 'auto'}, and DCP gathers rows as {FP8_ROWS}"
        yield engine.refuse("kv-cache-dtype", found, f"set {FP8_ROWS} on both stages")
    if engine.backend == FLASHMLA and settings.dcp_comm_backend != "ag_rs":
        found = f"{settings.dcp_comm_backend or 'a2a, which is the default of GLM'}; {FLASHMLA} has ag_rs"
        yield engine.refuse("dcp-comm-backend", found, "set ag_rs")
    if engine.drafts and settings.kv_cache_layout is None:
        found = (
            "not set; with DCP the draft layer's pages have another size, and only a block-outermost layout holds both"
        )
        yield engine.refuse("kv-cache-layout", found, "set BLHNC on both stages")


def _events(config: Config, engine: Engine, dcp: int) -> Iterator[Check]:
    if engine.stage != "prefill" or not engine.settings.block_size:
        return
    tokens = engine.settings.block_size * dcp
    for service in config.services:
        settings = service.settings
        if isinstance(settings, FrontendSettings) and settings.kv_cache_block_size != tokens:
            found = (
                f"{settings.kv_cache_block_size or 'the default'}, and a block over {dcp} DCP ranks has {tokens} tokens"
            )
            yield Check(f"{service.service.name}.kv-cache-block-size", found, f"set {tokens}")


def _together(engine: Engine, pcp: int, dcp: int) -> Iterator[Check]:
    settings = engine.settings
    if (settings.tensor_parallel_size or 1) > 1 or dcp != pcp:
        size = settings.tensor_parallel_size or 1
        found = f"{dcp} with PCP {pcp} and TP {size}; {NIXL} has PCP with DCP only for TP 1 and DCP = PCP"
        yield engine.refuse(_DCP, found, f"set it to {pcp}, and tensor-parallel-size to 1")
    if engine.backend != FLASHMLA and settings.dcp_comm_backend != "ag_rs":
        found = f"{settings.dcp_comm_backend or 'a2a, which is the default of GLM'}; PCP with DCP has ag_rs"
        yield engine.refuse("dcp-comm-backend", found, "set ag_rs")


def _over_tensor_ranks(engine: Engine, dcp: int) -> Iterator[Check]:
    size = engine.settings.tensor_parallel_size or 1
    if size % dcp:
        yield engine.refuse(_DCP, f"{dcp} does not divide tensor-parallel-size {size}", "choose a divisor")
