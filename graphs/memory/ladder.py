"""The memory ladder of one GPU: from what it has down to the KV that is left, and what that holds."""

from collections.abc import Mapping
from typing import Final

import msgspec

from components.kvcache.rows import BF16, FP8, FP8_DS_MLA, ROWS, Model, Row, token_bytes
from graphs.memory.assumptions import Assumption, assumptions
from graphs.memory.checkpoint import Checkpoint
from graphs.memory.devices import GIB, Device
from graphs.memory.shapes import Shapes
from graphs.memory.topology import Topology, topology
from graphs.memory.weights import CHECKPOINTS, Part, parts
from graphs.settings.vllm import VllmSettings

_UTILIZATION: Final = 0.92
"""vLLM 0.31's `--gpu-memory-utilization` where the configuration does not say."""

_ALIASES: Final = {"auto": BF16, "float16": BF16, "fp8": FP8}

_FLASHMLA: Final = "FLASHMLA_SPARSE"
_HOPPER: Final = 9


class Rung(msgspec.Struct, frozen=True):
    """What one thing takes of a GPU.

    Attributes:
        name: What it is.
        size_bytes: On each GPU.
        kind: `reserve`, `weights`, `assumed` or `logged`; what is left over is `kv`.
        why: How it comes about.
    """

    name: str
    size_bytes: int
    kind: str
    why: str


class Engine(msgspec.Struct, frozen=True):
    """What decides an engine's ladder.

    Attributes:
        name: The service's.
        role: `prefill` or `decode`.
        settings: Its flags.
        shapes: Its model.
        weights: Name of the weights' format.
        device: Its GPUs.
        assumed: Assumptions that were given instead of the defaults, in bytes, by name.
        logged: The same as vLLM logged them; what is given beats them.
        logged_weights_bytes: All weights of a GPU as vLLM logged them; None where no log is at hand.
        checkpoint: Exact sizes of the weights; None to compute them from the shapes.
    """

    name: str
    role: str
    settings: VllmSettings
    shapes: Shapes
    weights: str
    device: Device
    assumed: Mapping[str, int] = {}
    logged: Mapping[str, int] = {}
    logged_weights_bytes: int | None = None
    checkpoint: Checkpoint | None = None

    @property
    def parts(self) -> tuple[Part, ...]:
        """Its weights, MTP's only where they draft."""
        mtp = has_mtp(self.settings)
        if self.checkpoint is not None:
            return self.checkpoint.parts(mtp=mtp)
        return parts(self.shapes, CHECKPOINTS[self.weights], mtp=mtp)


class Ladder(msgspec.Struct, frozen=True):
    """One GPU of an engine, and what all of its GPUs keep together.

    Attributes:
        engine: The service's name.
        device: The GPU.
        topology: The engine's ranks.
        row: The format of a KV row.
        rungs: What is taken, in order.
        token_bytes: KV of one token on one GPU that keeps it: of its pipeline stage's layers, all of them without PP.
        max_model_len: Longest session, in tokens.
    """

    engine: str
    device: Device
    topology: Topology
    row: Row
    rungs: tuple[Rung, ...]
    token_bytes: int
    max_model_len: int

    @property
    def kv_bytes(self) -> int:
        """What is left for KV on a GPU; negative if weights and buffers do not fit."""
        return self.device.hbm_bytes - sum(rung.size_bytes for rung in self.rungs)

    @property
    def gpu_tokens(self) -> int:
        """Tokens that one GPU keeps."""
        return max(0, self.kv_bytes) // self.token_bytes

    @property
    def session_tokens(self) -> int:
        """The longest session's tokens that one GPU has to keep: DCP ranks share them."""
        return -(-self.max_model_len // self.topology.decode_context)

    @property
    def engine_tokens(self) -> int:
        """Different tokens that the whole engine keeps."""
        return self.gpu_tokens * self.topology.kv_groups

    @property
    def missing_bytes(self) -> int:
        """What a GPU lacks for one session of the longest length, which vLLM wants to start; 0 if it fits."""
        return max(0, self.session_tokens * self.token_bytes - self.kv_bytes)

    def sessions(self, tokens: int) -> int:
        """Return how many sessions of this length the engine keeps, each whole on its own ranks."""
        on_gpu = -(-tokens // self.topology.decode_context)
        groups = self.topology.kv_groups // self.topology.decode_context
        return groups * (self.gpu_tokens // on_gpu)


def row_of(settings: VllmSettings, device: Device) -> Row:
    """Return the KV row that an engine's flags choose; vLLM's own choice is bf16.

    FlashMLA's sparse backend makes `fp8_ds_mla` of any FP8, and FlashInfer's keeps plain rows (vLLM 0.31
    `model_executor/layers/attention/mla_attention.py`). Where no backend is named, vLLM takes FlashMLA's for FP8 on
    Hopper, and FlashInfer's on Blackwell (`platforms/cuda.py`).

    Raises:
        KeyError: No sparse MLA backend has rows of that format, or none whose bytes we know.
    """
    name = settings.kv_cache_dtype or "auto"
    row = _ALIASES.get(name) or ROWS[name]
    return FP8_DS_MLA if row is FP8 and _by_flashmla(settings, device) else row


def _by_flashmla(settings: VllmSettings, device: Device) -> bool:
    named = settings.attention_backend or (settings.attention_config or {}).get("backend")
    return int(device.capability) == _HOPPER if named is None else str(named).upper() == _FLASHMLA


def ladder(engine: Engine) -> Ladder:
    """Compute one GPU's ladder."""
    settings, shapes = engine.settings, engine.shapes
    ranks = topology(settings)
    row = row_of(settings, engine.device)
    return Ladder(
        engine=engine.name,
        device=engine.device,
        topology=ranks,
        row=row,
        rungs=(_reserve(engine), *_weights(engine, ranks), *_assumed(engine, ranks)),
        token_bytes=-(-token_bytes(kv_model(engine), row).all_bytes // ranks.pipeline),
        max_model_len=settings.max_model_len or shapes.max_position_embeddings,
    )


def has_mtp(settings: VllmSettings) -> bool:
    """Tell whether the engine's MTP layers draft tokens; without that vLLM does not load them.

    It takes `deepseek_mtp` and its like for `mtp` (vLLM 0.31 `config/speculative.py`).
    """
    return str((settings.speculative_config or {}).get("method")).endswith("mtp")


def kv_model(engine: Engine) -> Model:
    """Return the layers that keep KV in an engine: MTP's only where they draft."""
    shapes = engine.shapes
    used = shapes if has_mtp(engine.settings) else msgspec.structs.replace(shapes, num_nextn_predict_layers=0)
    return used.kv


def _reserve(engine: Engine) -> Rung:
    share = engine.settings.gpu_memory_utilization or _UTILIZATION
    return Rung(
        "kept free", round(engine.device.hbm_bytes * (1 - share)), "reserve", f"gpu-memory-utilization {share:g}"
    )


def _weights(engine: Engine, ranks: Topology) -> list[Rung]:
    rungs = [
        Rung(
            part.name,
            -(-part.all_bytes // ranks.shards(part.cut)),
            "weights",
            f"{part.parameters / 1e9:,.2f} B parameters in {part.format.name}{_scales(part)}, "
            f"over {ranks.shards(part.cut)}",
        )
        for part in engine.parts
    ]
    if (measured := engine.logged_weights_bytes) is not None:
        rest = measured - sum(rung.size_bytes for rung in rungs)
        rungs.append(Rung("beyond these parts", rest, "weights", f"vLLM logged {measured / GIB:,.1f} GiB of weights"))
    return rungs


def _scales(part: Part) -> str:
    return f" with {part.scales_bytes / 1e9:,.2f} GB of scales" if part.scales_bytes else ""


def _assumed(engine: Engine, ranks: Topology) -> list[Rung]:
    def rung(each: Assumption) -> Rung:
        if (size := engine.assumed.get(each.name)) is not None:
            return Rung(each.name, size, "assumed", "given")
        if (size := engine.logged.get(each.name)) is not None:
            return Rung(each.name, size, "logged", "vLLM's log")
        return Rung(each.name, each.size_bytes, "assumed", each.why)

    return [rung(each) for each in assumptions(engine.settings, engine.shapes, ranks, engine.device)]
