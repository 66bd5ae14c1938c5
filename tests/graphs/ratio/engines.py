"""The two engines of configs/gb200-1p4d.yaml, and others by their flags."""

from collections.abc import Mapping
from typing import Any

from graphs.memory.devices import device
from graphs.memory.ladder import Engine, Ladder, ladder
from graphs.memory.shapes import KNOWN
from graphs.settings.vllm import VllmSettings

MTP = {"method": "mtp", "num_speculative_tokens": 3}
PREFILL: Mapping[str, Any] = {
    "data-parallel-size": 8,
    "enable-expert-parallel": True,
    "max-num-batched-tokens": 8192,
    "speculative-config": MTP,
}
DECODE: Mapping[str, Any] = {
    "tensor-parallel-size": 4,
    "max-num-seqs": 16,
    "max-num-batched-tokens": 1024,
    "kv-cache-layout": "BLHNC",
    "block-size": 64,
    "speculative-config": MTP,
}


def side(flags: Mapping[str, Any], gpu: str = "gb200", model: str = "GLM-5.3") -> tuple[Engine, Ladder]:
    settings = VllmSettings.model_validate({"kv-cache-dtype": "nvfp4_ds_mla", **flags})
    engine = Engine("Some", "decode", settings, KNOWN[model], "nvfp4", device(gpu))
    return engine, ladder(engine)
