"""An engine as the rules see it: its settings, what moves its KV, and where each was written."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from graphs.checks.check import Check
from graphs.config import Config, ServiceConfig
from graphs.engines import transfer
from graphs.model import Role
from graphs.settings.vllm import VllmSettings

NVFP4 = "nvfp4_ds_mla"
FP8_ROWS = "fp8_ds_mla"
FLASHMLA = "FLASHMLA_SPARSE"
OURS = "CUSTOM"
"""The name under which vLLM's registry has our backend (`components/kvcache/vllm_backend`)."""
PLUGIN = "dynamo_glm"
"""That of its entry point, which `VLLM_PLUGINS` would have to list."""


@dataclass(frozen=True)
class Engine:
    """One service that vLLM runs.

    Attributes:
        config: The service with its origins.
        settings: Its settings.
        transfer: What it passes as `--kv-transfer-config`, or None.
    """

    config: ServiceConfig
    settings: VllmSettings
    transfer: dict[str, Any] | None

    @property
    def name(self) -> str:
        """The service's name."""
        return self.config.service.name

    @property
    def stage(self) -> Role:
        """Whether it is for prefill or decode."""
        return self.config.service.role

    @property
    def connectors(self) -> list[str]:
        """Class names of the connectors that move its KV."""
        return transfer.names(self.transfer)

    @property
    def connectors_key(self) -> str:
        """The setting in which they were named."""
        return "connectors" if self.settings.kv_transfer_config is None else "kv-transfer-config"

    @property
    def backend(self) -> str | None:
        """Its attention kernels, if somebody chose them."""
        chosen = self.settings.attention_backend or (self.settings.attention_config or {}).get("backend")
        return None if chosen is None else str(chosen).upper()

    @property
    def on_gpu(self) -> bool:
        """Whether it computes on GPUs."""
        return self.config.args.resources.gpu > 0

    @property
    def drafts(self) -> str | None:
        """How it drafts tokens, such as `mtp`, or None."""
        named = (self.settings.speculative_config or {}).get("method") or self.untyped("spec-method")
        return None if named is None else str(named)

    @property
    def graphs(self) -> str | None:
        """Its CUDA graph mode, if somebody chose one."""
        if self.settings.enforce_eager:
            return "NONE"
        mode = (self.settings.compilation_config or {}).get("cudagraph_mode")
        return None if mode is None else str(mode).upper()

    def untyped(self, flag: str) -> Any:
        """A flag of vLLM that is not typed here."""
        return (self.settings.model_extra or {}).get(flag)

    def variable(self, name: str) -> str | None:
        """A variable of its environment that a person set, in the file or in the shell."""
        return self.config.args.envs.get(name) or os.environ.get(name)

    def place(self, key: str) -> str:
        """The setting's name, after where it was written if somebody wrote it."""
        origin = self.config.origins.get(key)
        return (
            f"{self.name}.{key}"
            if origin is None or origin.layer == "default"
            else f"{origin.origin}: {self.name}.{key}"
        )

    def refuse(self, key: str, found: str, mend: str) -> Check:
        """A setting that cannot be served: what is wrong with it, and what to do."""
        return Check(self.place(key), found, mend)


def engines(config: Config) -> list[Engine]:
    """The services of a graph that vLLM runs."""
    return [
        Engine(each, each.settings, _transfer(each, each.settings))
        for each in config.services
        if isinstance(each.settings, VllmSettings)
    ]


def pair(found: list[Engine]) -> tuple[Engine, Engine] | None:
    """The prefill and the decode engine, if vLLM runs both."""
    by_stage = {engine.stage: engine for engine in found}
    return (by_stage["prefill"], by_stage["decode"]) if {"prefill", "decode"} <= set(by_stage) else None


def summary(engine: Engine) -> Check:
    """An engine that no rule refuses, in one line."""
    return Check(f"{engine.name} engine", ", ".join(_parts(engine)))


def _parts(engine: Engine) -> Iterator[str]:
    settings = engine.settings
    sizes = (
        ("TP", settings.tensor_parallel_size),
        ("PP", settings.pipeline_parallel_size),
        ("DEP" if settings.enable_expert_parallel else "DP", settings.data_parallel_size),
        ("PCP", settings.prefill_context_parallel_size),
        ("DCP", settings.decode_context_parallel_size),
    )
    yield " ".join(f"{name}{size}" for name, size in sizes if size and size > 1) or "one rank"
    yield f"{settings.kv_cache_dtype or 'default'} rows in {settings.kv_cache_layout or 'default'} layout"
    if settings.block_size:
        yield f"blocks of {settings.block_size} tokens"
    yield " + ".join(engine.connectors) or "no connector"


def _transfer(service: ServiceConfig, settings: VllmSettings) -> dict[str, Any] | None:
    return transfer.transfer_config(settings, service.service.role, on_gpu=service.args.resources.gpu > 0)
