"""Format and layout of KV rows: which kernels read them, on which GPUs, and in how many pieces they travel."""

from collections.abc import Iterator

from graphs.checks.check import Check
from graphs.checks.engines.engine import FLASHMLA, FP8_ROWS, NVFP4, OURS, PLUGIN, Engine
from graphs.engines.transfer import NIXL
from graphs.machine import Machine

_SPARSE_BLOCK = 64
_CPU_BLOCK = 32
_CPU_MLA = "CPU_MLA"
_CPU_MLA_BLOCK = 16
_BLACKWELL = 10
# What our backend has kernels for: Hopper, B200 and its like, and the workstation's Blackwell.
_OURS = {9, 10, 12}


def rows(found: list[Engine], machine: Machine) -> Iterator[Check]:
    """The KV dtype fits the kernels, the block size and this machine's GPUs, and a block is moved whole."""
    for engine in found:
        yield from _kernels(engine)
        yield from _blocks(engine)
        yield from _layout(engine)
        yield from _capability(engine, machine)


def _is_sparse(engine: Engine) -> bool:
    # Rows of these formats, and these backends, exist for sparse MLA alone.
    backend = engine.backend or ""
    return engine.settings.kv_cache_dtype in {NVFP4, FP8_ROWS} or "MLA_SPARSE" in backend or backend in {FLASHMLA, OURS}


def _kernels(engine: Engine) -> Iterator[Check]:
    dtype, backend = engine.settings.kv_cache_dtype, engine.backend
    if _is_sparse(engine) and not engine.on_gpu:
        yield engine.refuse("kv-cache-dtype", "vLLM has no sparse attention on CPU", "use another model, or GPUs")
    if dtype == NVFP4 and backend not in {None, FLASHMLA, OURS}:
        found = f"{NVFP4}, and of vLLM's backends only {FLASHMLA} reads it; {backend} does not"
        yield engine.refuse("kv-cache-dtype", found, f"set attention-backend: {FLASHMLA}, or {OURS}, which is ours")
    if backend == OURS and dtype != NVFP4:
        found = f"{OURS}, which reads {NVFP4} and nothing else; kv-cache-dtype is {dtype or 'the default'}"
        yield engine.refuse("attention-backend", found, f"set kv-cache-dtype: {NVFP4}, or another backend")
    plugins = engine.variable("VLLM_PLUGINS")
    if backend == OURS and plugins is not None and PLUGIN not in plugins.split(","):
        found = f"{OURS}, which is registered by the plugin {PLUGIN}, and VLLM_PLUGINS is {plugins!r}"
        yield engine.refuse("attention-backend", found, f"add {PLUGIN} to it, or leave it out")
    if dtype == FP8_ROWS and backend == "FLASHINFER_MLA_SPARSE":
        yield engine.refuse(
            "kv-cache-dtype", f"{backend} does not read {FP8_ROWS}", f"set attention-backend: {FLASHMLA}, or fp8_e4m3"
        )


def _blocks(engine: Engine) -> Iterator[Check]:
    size = engine.settings.block_size
    if size and _is_sparse(engine) and engine.backend in {None, FLASHMLA, OURS} and size % _SPARSE_BLOCK:
        found = f"{size}, and sparse kernels and the indexer read blocks of {_SPARSE_BLOCK} tokens"
        yield engine.refuse("block-size", found, f"set {_SPARSE_BLOCK}")
    if size and engine.backend == _CPU_MLA and size != _CPU_MLA_BLOCK:
        found = f"{size}, and {_CPU_MLA} has blocks of {_CPU_MLA_BLOCK} tokens whatever it is told"
        yield engine.refuse("block-size", found, f"set {_CPU_MLA_BLOCK}")
    elif size and not engine.on_gpu and engine.backend != _CPU_MLA and size % _CPU_BLOCK:
        yield engine.refuse("block-size", f"{size}, and on CPU it is a multiple of {_CPU_BLOCK}", f"set {_CPU_BLOCK}")


def _layout(engine: Engine) -> Iterator[Check]:
    layout = engine.settings.kv_cache_layout
    if layout is None and _is_sparse(engine) and NIXL in engine.connectors:
        found = "not set; vLLM lays MLA out layer by layer (LBNHC), and both stages must say the same"
        yield engine.refuse("kv-cache-layout", found, "set BLHNC, where a block can move as one piece")
    if not engine.on_gpu and layout not in {None, "LBHNC", "LBNHC"}:
        yield engine.refuse("kv-cache-layout", f"{layout} is not there on CPU", "leave it out")


def _capability(engine: Engine, machine: Machine) -> Iterator[Check]:
    if engine.settings.kv_cache_dtype != NVFP4 or not engine.on_gpu:
        return
    name, has = f"{engine.name} GPUs", machine.capability
    families = _OURS if engine.backend == OURS else {_BLACKWELL}
    needs = f"{NVFP4} needs compute capability 10.x (B200, GB200, B300) with vLLM's kernels"
    if engine.backend == OURS:
        needs = f"{NVFP4} needs compute capability 9.0, 10.x or 12.x with our kernels"
    if has is None:
        yield Check(name, f"not looked at, for want of nvidia-smi: {needs}")
        return
    shown = ".".join(map(str, has))
    if has[0] in families:
        yield Check(name, f"compute capability {shown}")
        return
    mend = f"set {engine.name}.kv-cache-dtype to {FP8_ROWS}"
    if has[0] in _OURS:
        mend = f"set {engine.name}.attention-backend to {OURS}, which is ours, or kv-cache-dtype to {FP8_ROWS}"
    yield Check(name, f"compute capability {shown}: {needs}", mend)
