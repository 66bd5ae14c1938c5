"""From checked settings to the processes that run on this machine.

Processes start together and not one after another, because each of them waits for what it needs by watching discovery:
a frontend that is up first lists a model when its workers register. Two orders are real and are kept: a worker starts
after a store that it is linked to, and a graph is ready only when the frontend answers a chat completion after all
workers have registered. Stopping follows a request: the frontend lets its answers finish while the workers still run,
then decode stops, then prefill, then the store.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphs import environment, gpus
from graphs.config import Config, ServiceConfig
from graphs.machine import Machine
from graphs.model import Role
from graphs.process import ChatReady, HttpReady, Plan, PortReady, ProcessSpec, Ready, Started
from graphs.standin import NAME as STAND_IN

_STOP_ORDER: tuple[Role, ...] = ("frontend", "decode", "prefill", "store")
_ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - compared with, not bound.


@dataclass(frozen=True)
class _Replica:
    """One process to be: a service's settings, its number, and what it is given of the machine."""

    service: ServiceConfig
    number: int
    gpus: tuple[int, ...]
    port: int


def make_plan(config: Config, machine: Machine, run_dir: Path, *, only: str | None = None) -> Plan:
    """Lay the graph, or one service of it, out over this machine.

    Args:
        config: The graph with its settings.
        machine: GPUs, and one free port for each process.
        run_dir: Private folder of this run; nothing is written to it here.
        only: Name of the one service to start, or None for the whole graph.
    """
    services = [service for service in config.services if only in {None, service.service.name}]
    services.sort(key=lambda service: -_STOP_ORDER.index(service.service.role))
    model = _served_model(services)
    return Plan(
        graph=config.graph.name,
        processes=tuple(_process(config, each, machine, run_dir, model) for each in _replicas(services, machine)),
        run_dir=run_dir,
        stand_in=run_dir / STAND_IN if any(service.model == STAND_IN for service in services) else None,
        url=next((base_url(service) for service in services if service.worker.readiness == "chat"), None),
        model=model,
    )


def base_url(service: ServiceConfig) -> str:
    """Where a frontend is reached from this machine, without a trailing slash."""
    settings: Any = service.settings
    host = _ANY_ADDRESS.get(settings.http_host, settings.http_host)
    return f"http://{f'[{host}]' if ':' in host else host}:{settings.http_port}"


def _replicas(services: list[ServiceConfig], machine: Machine) -> list[_Replica]:
    numbered = [(service, number) for service in services for number in range(service.args.workers)]
    owned = gpus.assign([service.args.resources.gpu for service, _ in numbered], machine.gpus)
    ports = machine.ports[: len(numbered)]
    return [
        _Replica(service, number, own, port)
        for (service, number), own, port in zip(numbered, owned, ports, strict=True)
    ]


def _served_model(services: list[ServiceConfig]) -> str | None:
    # Only a decoder can answer; without one on this machine there is nothing to ask the frontend for.
    return next((service.model_name for service in services if service.service.role == "decode"), None)


def _process(config: Config, replica: _Replica, machine: Machine, run_dir: Path, model: str | None) -> ProcessSpec:
    service = replica.service
    return ProcessSpec(
        name=_name(service, replica.number),
        service=service.service.name,
        replica=replica.number,
        argv=_argv(service, run_dir),
        env=_env(config, replica, machine, run_dir),
        gpus=replica.gpus,
        after=tuple(_stores_of(config, service)),
        ready=_ready(config, replica, model),
        ready_limit_s=service.args.ready_seconds,
        stop_rank=_STOP_ORDER.index(service.service.role),
        drain_limit_s=service.args.drain_seconds,
        restart=service.args.restart,
    )


def _name(service: ServiceConfig, number: int) -> str:
    return f"{service.service.name}-{number}" if service.args.workers > 1 else service.service.name


def _stores_of(config: Config, service: ServiceConfig) -> list[str]:
    linked = {link.to for link in config.graph.links if link.source == service.service.name}
    return [
        _name(store, number)
        for store in config.services
        if store.service.role == "store" and store.service.name in linked
        for number in range(store.args.workers)
    ]


def _argv(service: ServiceConfig, run_dir: Path) -> tuple[str, ...]:
    worker = service.worker
    settings = service.settings
    if service.model == STAND_IN:
        settings = settings.model_copy(update={worker.model_flag.replace("-", "_"): str(run_dir / STAND_IN)})
    program = (str(Path(sys.executable).parent / worker.program),) if worker.program else ()
    return (*(program or (sys.executable, "-m", worker.module)), *worker.fixed, *settings.arguments())


def _env(config: Config, replica: _Replica, machine: Machine, run_dir: Path) -> dict[str, str]:
    service = replica.service
    env = environment.shared(config, run_dir)
    if service.worker.readiness == "endpoint":
        env |= environment.of_worker(config.runtime, replica.port)
    if service.model == STAND_IN or (service.model and Path(service.model).is_dir()):
        env["HF_HUB_OFFLINE"] = "1"
    if replica.gpus or machine.gpus:
        # Empty hides the GPUs that other processes own.
        env["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, replica.gpus))
    return env | service.args.envs


def _ready(config: Config, replica: _Replica, model: str | None) -> Ready:
    settings: Any = replica.service.settings
    match replica.service.worker.readiness:
        case "chat":
            url = base_url(replica.service)
            return ChatReady(url, model) if model else HttpReady(f"{url}/live")
        case "endpoint" if environment.shows_by_request_plane(config.runtime):
            return PortReady("127.0.0.1", replica.port)
        case "endpoint":
            return HttpReady(f"http://127.0.0.1:{replica.port}/health")
        case "port":
            return PortReady(settings.rpc_address, settings.rpc_port)
        case "started":
            return Started()
