"""The kinds of worker that this project's graphs are made of."""

from typing import Literal

from graphs.worker import Worker

Stage = Literal["prefill", "decode"]


def frontend() -> Worker:
    """Our OpenAI-compatible frontend: Dynamo's HTTP server, our chat engine, router and tool calls."""
    return Worker(
        "frontend",
        "graphs.settings.frontend:FrontendSettings",
        module="components.frontend",
        readiness="chat",
        # Its own `drain-timeout-s` ends first.
        drain_seconds=35,
    )


def local() -> Worker:
    """Our decoder without a model: it samples what a request's guided decoding allows, on a CPU."""
    return Worker("local", "graphs.settings.local:LocalSettings", module="components.local")


def mocker(stage: Stage) -> Worker:
    """Dynamo's mock engine: real scheduling, prefix cache and KV events, simulated time and no tensors."""
    return Worker(
        "mocker",
        "graphs.settings.mocker:MockerSettings",
        module="dynamo.mocker",
        fixed=("--disaggregation-mode", stage),
        topology_flags={"data_parallel": "data-parallel-size"},
    )


def vllm(stage: Stage) -> Worker:
    """A vLLM engine as a Dynamo worker."""
    return Worker(
        "vllm",
        "graphs.settings.vllm:VllmSettings",
        module="dynamo.vllm",
        fixed=("--disaggregation-mode", stage),
        readiness="status",
        uses_gpus=True,
        topology_flags={
            "tensor_parallel": "tensor-parallel-size",
            "data_parallel": "data-parallel-size",
            "expert_parallel": "enable-expert-parallel",
        },
        model_flag="model",
        name_flag="served-model-name",
        requires={"vllm": "0.31.0"},
        # Loading hundreds of gigabytes of weights and capturing CUDA graphs takes many minutes.
        ready_seconds=1800,
        # Dynamo's own grace period is 5, then vLLM ends its processes; killed before, they leave shared memory behind.
        drain_seconds=45,
    )


def mooncake_master() -> Worker:
    """The master of a Mooncake store: it knows which worker's memory holds which key.

    It opens the RPC port last, when its metadata server and its metrics answer already.
    """
    return Worker("mooncake", "graphs.settings.mooncake:MooncakeSettings", program="mooncake_master", readiness="port")


def mooncake_client() -> Worker:
    """Memory of a Mooncake store that is no engine's, so that what engines put there outlives them."""
    return Worker(
        "mooncake-client",
        "graphs.settings.mooncake_client:MooncakeClientSettings",
        program="mooncake_client",
        readiness="port",
    )
