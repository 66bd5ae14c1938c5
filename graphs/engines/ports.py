"""Which ports a process needs: runs of consecutive ports, since vLLM and Dynamo add the data-parallel rank to a base.

The rank that is added is the one over all machines, so a process with ranks 4 to 7 uses the upper half of its run.
"""

from collections.abc import Mapping
from typing import Any

from graphs.config import ServiceConfig
from graphs.engines import transfer
from graphs.settings.mooncake import MooncakeSettings
from graphs.settings.mooncake_client import MooncakeClientSettings
from graphs.settings.vllm import VllmSettings

ENDPOINT = "endpoint"
STATUS = "status"
SIDE_CHANNEL = "NIXL side channel"
KV_EVENTS = "KV events"
STEP_METRICS = "forward-pass metrics"

Ports = Mapping[str, tuple[int, ...]]


def wanted(service: ServiceConfig) -> dict[str, int]:
    """How many ports of each name one process of the service takes, beside those that its settings name."""
    match service.worker.readiness:
        case "endpoint":
            ports = {ENDPOINT: 1}
        case "status":
            ports = {STATUS: 1}
        case _:
            ports = {}
    if isinstance(service.settings, VllmSettings):
        ports |= {name: service.settings.ranks for name, is_used in _of_engine(service.settings) if is_used}
    return ports


def named(service: ServiceConfig) -> list[tuple[str, str, int]]:
    """Address, setting and number of each port that a service's settings name; the first shows that it is ready."""
    settings: Any = service.settings
    match settings:
        case MooncakeSettings():
            listens = [(settings.rpc_address, "rpc-port"), (settings.metrics_host, "metrics-port")]
            if settings.enable_http_metadata_server:
                # 0.3.13 listens on all addresses, whatever its host is.
                listens.append(("0.0.0.0", "http-metadata-server-port"))  # noqa: S104 - of Mooncake's making.
        case MooncakeClientSettings():
            listens = [(settings.host, "port")]
        case _ if service.worker.readiness == "chat":
            listens = [(settings.http_host, "http-port")]
        case _ if service.worker.readiness == "port":
            listens = [(settings.rpc_address, "rpc-port")]
        case _:
            listens = []
    return [(host, setting, getattr(settings, setting.replace("-", "_"))) for host, setting in listens]


def _of_engine(settings: VllmSettings) -> tuple[tuple[str, bool], ...]:
    by_hand = transfer.names(settings.kv_transfer_config)
    by_name = [connector.name for connector in settings.connectors or ()]
    return (
        (SIDE_CHANNEL, transfer.NIXL in by_hand or "nixl" in by_name),
        (KV_EVENTS, bool(settings.kv_events) and settings.kv_events_config is None),
        (STEP_METRICS, bool(settings.forward_pass_metrics)),
    )
