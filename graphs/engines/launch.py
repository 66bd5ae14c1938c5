"""A vLLM process in full: the flags that a person wrote with what differs from process to process."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphs.config import Config, ServiceConfig
from graphs.engines import ports as names
from graphs.engines import store, transfer
from graphs.engines.ports import Ports
from graphs.settings.vllm import VllmSettings

_LOOPBACK = "127.0.0.1"
# Dynamo's relay in the same process subscribes to it; a port without a star would be one to connect to.
_EVENTS = {"publisher": "zmq", "topic": "kv-events", "enable_kv_cache_events": True}
# Dynamo would set the class that this one derives from; a class of the user's own stays.
_SCHEDULER = "components.engine.scheduler.TimedScheduler"


@dataclass(frozen=True)
class Launch:
    """How an engine's process is started.

    Attributes:
        settings: Its flags, with those that the launcher adds.
        env: What its environment gets.
    """

    settings: VllmSettings
    env: Mapping[str, str]


def launch(config: Config, service: ServiceConfig, settings: VllmSettings, ports: Ports, run_dir: Path) -> Launch:
    """Add transfer and event configurations, ports, layout and the store's file to what a person wrote."""
    on_gpu = service.args.resources.gpu > 0
    moves_kv = transfer.transfer_config(settings, service.service.role, on_gpu=on_gpu)
    added = {
        "kv_transfer_config": moves_kv,
        "kv_events_config": _events(settings, ports),
        "scheduler_cls": settings.scheduler_cls or (_SCHEDULER if settings.forward_pass_metrics else None),
    }
    env = {
        **_choices(settings),
        **_addresses(settings, ports, spans_machines=config.runtime.spans_machines),
        **_store(config, moves_kv, run_dir),
    }
    return Launch(settings.model_copy(update=added), env)


def _events(settings: VllmSettings, ports: Ports) -> dict[str, Any] | None:
    if names.KV_EVENTS not in ports:
        return settings.kv_events_config
    return {**_EVENTS, "endpoint": f"tcp://*:{ports[names.KV_EVENTS][0]}"}


def _choices(settings: VllmSettings) -> dict[str, str]:
    env: dict[str, str] = {}
    if settings.kv_cache_layout is not None:
        env["VLLM_KV_CACHE_LAYOUT"] = settings.kv_cache_layout
    if settings.model_runner_v2 is not None:
        env["VLLM_USE_V2_MODEL_RUNNER"] = str(int(settings.model_runner_v2))
    return env


def _addresses(settings: VllmSettings, ports: Ports, *, spans_machines: bool) -> dict[str, str]:
    env: dict[str, str] = {}
    host = settings.side_channel_host or (None if spans_machines else _LOOPBACK)
    if host:
        # vLLM would guess one for its own groups and for Mooncake, from the route outwards.
        env["VLLM_HOST_IP"] = host
    if names.SIDE_CHANNEL in ports:
        if host:
            env["VLLM_NIXL_SIDE_CHANNEL_HOST"] = host
        env["VLLM_NIXL_SIDE_CHANNEL_PORT"] = str(ports[names.SIDE_CHANNEL][0])
    if names.STEP_METRICS in ports:
        env["DYN_FORWARDPASS_METRIC_PORT"] = str(ports[names.STEP_METRICS][0])
    return env


def _store(config: Config, moves_kv: dict[str, Any] | None, run_dir: Path) -> dict[str, str]:
    if transfer.MOONCAKE not in transfer.names(moves_kv):
        return {}
    path = next(iter(store.client_file(config, run_dir)), None)
    return {} if path is None else {"MOONCAKE_CONFIG_PATH": str(path)}
