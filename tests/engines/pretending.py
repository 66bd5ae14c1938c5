"""vLLM's own checks of a configuration for GPUs, on a machine that has none.

vLLM decides almost everything in `VllmConfig`, before it touches a device, and asks the platform what it is on. Here
the platform of vLLM for CPUs is told to answer as CUDA does; the checks, and all that they look at, are vLLM's.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

import pytest

from graphs.process import ProcessSpec

CAPABILITIES = {"gb200": (10, 0), "h200": (9, 0)}
GIB = 2**30
# Loaded as on a CPU, since their CUDA kernels are not in this build.
_BEFORE = (
    "vllm.model_executor.layers.attention",
    "vllm.model_executor.models.config",
    "vllm.v1.attention.backends.mla.flashmla_sparse",
)


def pretend(patch: pytest.MonkeyPatch, capability: tuple[int, int]) -> None:
    """Let vLLM believe in GPUs of this compute capability, as long as the patch lasts."""
    for name in _BEFORE:
        import_module(name)
    patch.setitem(sys.modules, "vllm._C_stable_libtorch", ModuleType("vllm._C_stable_libtorch"))
    platforms: Any = import_module("vllm.platforms")
    patch.setattr(platforms.current_platform, "__class__", _gpus(capability))
    patch.setattr("vllm.config.vllm.HAS_TRITON", True)


def _gpus(capability: tuple[int, int]) -> type:
    base: Any = import_module("vllm.platforms.cuda").NonNvmlCudaPlatform
    shown: Any = import_module("vllm.platforms.interface").DeviceCapability(*capability)

    def ask(value: object) -> Any:
        return classmethod(lambda *_, **__: value)

    return type(
        "Pretended",
        (base,),
        {
            "get_device_capability": ask(shown),
            "get_device_name": ask("a pretended GPU"),
            "get_device_total_memory": ask(141 * GIB),
            "device_count": ask(64),
        },
    )


def engine_config(patch: pytest.MonkeyPatch, name: str, process: ProcessSpec) -> Any:
    """What vLLM makes of a worker's command on the GPUs that the configuration's name promises: its VllmConfig.

    Raises:
        SystemExit: A flag is unknown, or its value is.
        Exception: vLLM or Dynamo refuses the configuration.
    """
    capability = CAPABILITIES.get(name.partition("-")[0])
    with patch.context() as inner:
        inner.setenv("HF_HUB_OFFLINE", "1")
        for variable, value in process.env.items():
            if variable.startswith(("VLLM_", "DYN_FORWARDPASS")):
                inner.setenv(variable, value)
        if capability:
            pretend(inner, capability)
        parsed: Any = import_module("dynamo.vllm.args").parse_args(list(process.argv[3:]))
        config = parsed.engine_args.create_engine_config()
        import_module("vllm.v1.worker.gpu.pcp_manager").PCPManager.validate_config(config, supports_mm_inputs=False)
    return config


def nixl_hash(config: Any) -> str:
    """What NIXL compares at the handshake of two stages."""
    metadata: Any = import_module("vllm.distributed.kv_transfer.kv_connector.v1.nixl.metadata")
    backend = config.attention_config.backend
    found: str = metadata.compute_nixl_compatibility_hash(config, backend.name if backend else None)
    return found
