"""From checked settings to the processes that run on this machine.

Processes start together and not one after another, because each of them waits for what it needs by watching discovery:
a frontend that is up first lists a model when its workers register. Two orders are real and are kept: a worker starts
after a store that it is linked to, and a graph is ready only when the frontend answers a chat completion after all
workers have registered. Stopping follows a request: the frontend lets its answers finish while the workers still run,
then decode stops, then prefill, then the store.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from graphs import environment, gpus
from graphs.config import Config, ServiceConfig
from graphs.engines import ports, store
from graphs.engines.launch import launch
from graphs.engines.ports import Ports
from graphs.machine import Machine
from graphs.model import Role
from graphs.process import ChatReady, HttpReady, Plan, PortReady, ProcessSpec, Ready, Started
from graphs.settings.base import Settings
from graphs.settings.mooncake_client import MooncakeClientSettings
from graphs.settings.vllm import VllmSettings
from graphs.standin import NAME as STAND_IN

# A worker says so when its file in the discovery store is gone. It was still for 10 s, as on a machine that slept, and
# others took it for dead; Dynamo 1.6.1 does not register it again.
_LOST = "FileStore::keep_alive failed"
_STOP_ORDER: tuple[Role, ...] = ("frontend", "decode", "prefill", "store")
_ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - compared with, not bound.


@dataclass(frozen=True)
class _Scene:
    """What every process of a plan is made from."""

    config: Config
    services: Sequence[ServiceConfig]
    machine: Machine
    run_dir: Path

    @property
    def model(self) -> str | None:
        # Only a decoder can answer; without one on this machine there is nothing to ask the frontend for.
        return next((each.model_name for each in self.services if each.service.role == "decode"), None)


@dataclass(frozen=True)
class _Replica:
    """One process to be: a service's settings, its number, and what it is given of the machine."""

    service: ServiceConfig
    number: int
    gpus: tuple[int, ...]
    ports: Ports


def make_plan(config: Config, machine: Machine, run_dir: Path, *, only: str | None = None) -> Plan:
    """Lay the graph, or one service of it, out over this machine.

    Args:
        config: The graph with its settings.
        machine: GPUs, and as many free ports as the processes take.
        run_dir: Private folder of this run; nothing is written to it here.
        only: Name of the one service to start, or None for the whole graph.
    """
    services = [service for service in config.services if only in {None, service.service.name}]
    services.sort(key=lambda service: -_STOP_ORDER.index(service.service.role))
    scene = _Scene(config, services, machine, run_dir)
    processes = tuple(_process(scene, replica) for replica in _replicas(services, machine))
    named = {value for process in processes for value in process.env.values()}
    return Plan(
        graph=config.graph.name,
        processes=processes,
        run_dir=run_dir,
        files={path: text for path, text in store.client_file(config, run_dir).items() if str(path) in named},
        stand_in=run_dir / STAND_IN if any(service.model == STAND_IN for service in services) else None,
        url=next((base_url(service) for service in services if service.worker.readiness == "chat"), None),
        model=scene.model,
    )


def base_url(service: ServiceConfig) -> str:
    """Where a frontend is reached from this machine, without a trailing slash."""
    settings: Any = service.settings
    host = _ANY_ADDRESS.get(settings.http_host, settings.http_host)
    return f"http://{f'[{host}]' if ':' in host else host}:{settings.http_port}"


def _replicas(services: Sequence[ServiceConfig], machine: Machine) -> Iterator[_Replica]:
    numbered = [(service, number) for service in services for number in range(service.args.workers)]
    owned = gpus.assign([service.args.resources.gpu for service, _ in numbered], machine.gpus)
    free = iter(machine.ports)
    for (service, number), own in zip(numbered, owned, strict=True):
        given = {name: tuple(islice(free, count)) for name, count in ports.wanted(service).items()}
        yield _Replica(service, number, own, given)


def _process(scene: _Scene, replica: _Replica) -> ProcessSpec:
    service = replica.service
    settings, env = _adapted(scene, replica)
    return ProcessSpec(
        name=_name(service, replica.number),
        service=service.service.name,
        replica=replica.number,
        argv=_argv(service, settings),
        env={**_env(scene, replica), **env, **service.args.envs},
        gpus=replica.gpus,
        ports=replica.ports,
        after=tuple(_stores_of(scene, service)),
        ready=_ready(scene, replica),
        ready_limit_s=service.args.ready_seconds,
        stop_rank=_STOP_ORDER.index(service.service.role),
        drain_limit_s=service.args.drain_seconds,
        restart=service.args.restart,
        lost=_lost(scene.config, service),
    )


def _lost(config: Config, service: ServiceConfig) -> str | None:
    # A frontend is found by its port; what it registers is for other frontends.
    registered = service.worker.readiness in {"endpoint", "status"}
    return _LOST if registered and config.runtime.discovery_backend == "file" else None


def _name(service: ServiceConfig, number: int) -> str:
    return f"{service.service.name}-{number}" if service.args.workers > 1 else service.service.name


def _stores_of(scene: _Scene, service: ServiceConfig) -> Iterator[str]:
    # A store on another machine is none of this plan's processes.
    linked = {link.to for link in scene.config.graph.links if link.source == service.service.name}
    for other in scene.services:
        if other.service.role == "store" and other.service.name in linked:
            yield from (_name(other, number) for number in range(other.args.workers))


def _adapted(scene: _Scene, replica: _Replica) -> tuple[Settings, Mapping[str, str]]:
    """The service's settings as this process gets them, and what they put into its environment."""
    service = replica.service
    settings = service.settings
    if service.model == STAND_IN:
        model = str(scene.run_dir / STAND_IN)
        settings = settings.model_copy(update={service.worker.model_flag.replace("-", "_"): model})
    if isinstance(settings, MooncakeClientSettings):
        return store.joined(scene.config, settings), {}
    if not isinstance(settings, VllmSettings):
        return settings, {}
    engine = launch(scene.config, service, settings, replica.ports, scene.run_dir)
    return engine.settings, engine.env


def _argv(service: ServiceConfig, settings: Settings) -> tuple[str, ...]:
    worker = service.worker
    program = (str(Path(sys.executable).parent / worker.program),) if worker.program else ()
    return (*(program or (sys.executable, "-m", worker.module)), *worker.fixed, *settings.arguments())


def _env(scene: _Scene, replica: _Replica) -> dict[str, str]:
    service = replica.service
    env = environment.shared(scene.config, scene.run_dir)
    if ports.ENDPOINT in replica.ports:
        env |= environment.of_endpoint(scene.config.runtime, replica.ports[ports.ENDPOINT][0])
    if ports.STATUS in replica.ports:
        env |= environment.of_status(scene.config.runtime, replica.ports[ports.STATUS][0])
    if service.model == STAND_IN or (service.model and Path(service.model).is_dir()):
        env["HF_HUB_OFFLINE"] = "1"
    if replica.gpus or scene.machine.gpus:
        # Empty hides the GPUs that other processes own.
        env["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, replica.gpus))
    return env


def _ready(scene: _Scene, replica: _Replica) -> Ready:
    match replica.service.worker.readiness:
        case "chat":
            url = base_url(replica.service)
            return ChatReady(url, scene.model) if scene.model else HttpReady(f"{url}/live")
        case "endpoint" if environment.shows_by_request_plane(scene.config.runtime):
            return PortReady("127.0.0.1", replica.ports[ports.ENDPOINT][0])
        case "endpoint":
            return HttpReady(f"http://127.0.0.1:{replica.ports[ports.ENDPOINT][0]}/health")
        case "status":
            return HttpReady(f"http://127.0.0.1:{replica.ports[ports.STATUS][0]}/health")
        case "port":
            host, _, port = ports.named(replica.service)[0]
            return PortReady(host, port)
        case "started":
            return Started()
