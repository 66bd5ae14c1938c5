"""The environment of each process: how it finds the others, and how it is seen to be ready.

Names are those that the runtime 1.6.1 reads. A process gets only what is added here; the rest is inherited.
"""

import os
from pathlib import Path

from graphs.config import Config
from graphs.settings.runtime import Runtime
from graphs.standin import NAME as STAND_IN

_LOOPBACK = "127.0.0.1"
_WARN_AT_EVERY_STOP = (
    "dynamo_llm::discovery::controller",
    "dynamo_llm::entrypoint::input::endpoint",
    "dynamo_llm::kv_router::publisher",
    "dynamo_runtime::component::endpoint",
    "dynamo_runtime::transports::event_plane",
)
# At info, Dynamo writes a line for every step of every request.
_LOG = ",".join(("warn", *(f"{module}=error" for module in _WARN_AT_EVERY_STOP)))
_HOSTS = ("DYN_TCP_RPC_HOST", "DYN_TCP_RESPONSE_STREAM_HOST", "DYN_EVENT_PLANE_HOST")


def shared(config: Config, run_dir: Path) -> dict[str, str]:
    """What every process of the graph gets."""
    runtime = config.runtime
    env = {
        "DYN_DISCOVERY_BACKEND": runtime.discovery_backend,
        "DYN_REQUEST_PLANE": runtime.request_plane,
        "DYN_EVENT_PLANE": runtime.event_plane,
        # Prefix hashes must be equal in every process.
        "PYTHONHASHSEED": "0",
        # Dynamo leaves a temporary file behind for every process: the run's folder takes it with it.
        "TMPDIR": str(run_dir),
        # Python holds output back in a pipe, and a crash would take the last lines with it.
        "PYTHONUNBUFFERED": "1",
        "DYN_LOG": os.environ.get("DYN_LOG", _LOG),
        "DYN_SDK_DISABLE_ANSI_LOGGING": "1",
    }
    if runtime.discovery_backend == "file":
        env["DYN_FILE_KV"] = runtime.store_path or str(run_dir / "store")
    if runtime.etcd_endpoints:
        env["ETCD_ENDPOINTS"] = runtime.etcd_endpoints
    if runtime.nats_server:
        env["NATS_SERVER"] = runtime.nats_server
    if not runtime.spans_machines:
        # The runtime would take the machine's outward address, which changes with a laptop's network.
        env |= dict.fromkeys(_HOSTS, _LOOPBACK)
        # All processes read the model's folder themselves.
        env["DYN_SELF_HOST_METADATA"] = "0"
    if any(service.model == STAND_IN for service in config.services):
        # Dynamo's frontend copies model cards to ~/.cache/dynamo/mdc, under a name made of the private folder's.
        env["HOME"] = str(run_dir)
    return env


def of_endpoint(runtime: Runtime, port: int) -> dict[str, str]:
    """What makes a worker show on this port that its endpoint is served.

    On one machine the port is that of the request plane, which the runtime opens when it registers the first endpoint.
    Otherwise it is that of the status server.
    """
    return {"DYN_TCP_RPC_PORT": str(port)} if shows_by_request_plane(runtime) else of_status(runtime, port)


def of_status(runtime: Runtime, port: int) -> dict[str, str]:
    """What makes a worker open its status server on this port.

    Its `/health` answers 200 once `generate` is served, its `/metrics` are the engine's, and it hands the model's files
    to frontends on other machines. (1.6.1 calls the second variable deprecated, and obeys it.)
    """
    env = {"DYN_SYSTEM_PORT": str(port), "DYN_SYSTEM_USE_ENDPOINT_HEALTH_STATUS": '["generate"]'}
    return env if runtime.spans_machines else env | {"DYN_SYSTEM_HOST": _LOOPBACK}


def shows_by_request_plane(runtime: Runtime) -> bool:
    """Whether a worker's request plane is a TCP port on loopback."""
    return runtime.request_plane == "tcp" and not runtime.spans_machines
