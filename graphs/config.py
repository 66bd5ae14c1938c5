"""From a graph, a file and the command line to checked settings for every service."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from graphs.check import checked
from graphs.errors import Refusal
from graphs.layers import (
    COMMON,
    COMMON_KEYS,
    LAUNCH,
    RUNTIME,
    Section,
    Value,
    common_section,
    default_section,
    file_section,
    override_section,
)
from graphs.model import Graph, Service
from graphs.nearest import did_you_mean
from graphs.overrides import Override
from graphs.settings.base import Settings
from graphs.settings.launch import ServiceArgs
from graphs.settings.runtime import Runtime
from graphs.worker import Worker
from graphs.yamlfile import Document


@dataclass(frozen=True)
class ServiceConfig:
    """A service that runs, with everything that is known about it.

    Attributes:
        service: The box of the diagram.
        worker: What runs it.
        settings: The worker's flags.
        args: What the launcher needs.
        origins: Every value with its origin, by dotted name such as `ServiceArgs.workers`.
    """

    service: Service
    worker: Worker
    settings: Settings
    args: ServiceArgs
    origins: Mapping[str, Value]

    @property
    def model(self) -> str | None:
        """Folder or hub id of its model, or None if the worker has none."""
        return self._setting(self.worker.model_flag)

    @property
    def model_name(self) -> str | None:
        """The served model's name, or None if the worker has none."""
        return self._setting(self.worker.name_flag) or self.model

    def _setting(self, flag: str) -> str | None:
        value = getattr(self.settings, flag.replace("-", "_"), None)
        return None if value is None else str(value)


@dataclass(frozen=True)
class Config:
    """A graph with all its settings.

    Attributes:
        graph: The graph.
        services: Those that run, in the graph's order.
        runtime: How processes find and reach each other.
        runtime_origins: Its values that somebody gave, with their origins.
        file: The configuration file's name, or None without one.
    """

    graph: Graph
    services: tuple[ServiceConfig, ...]
    runtime: Runtime
    runtime_origins: Mapping[str, Value]
    file: str | None


def resolve(graph: Graph, document: Document | None, overrides: Sequence[Override] = ()) -> Config:
    """Merge defaults, file and command line, and check every name and value.

    Raises:
        Refusal: One line for each problem, with its place.
    """
    document = document or Document("", {}, {})
    problems = list(_unknown_services(graph, document, overrides))

    def given(name: str) -> Section:
        return file_section(document, name) | override_section(overrides, name)

    common = given(COMMON)
    own = {service.name: given(service.name) for service in graph.services}
    problems += _misused_common(common, own)
    asked = [
        service
        for service in graph.services
        if not service.optional or service.name in document.data or own[service.name]
    ]
    services = [_service(graph, service, own[service.name], common, problems) for service in asked]
    runtime_section = given(RUNTIME)
    runtime = checked(Runtime, RUNTIME, runtime_section, problems)
    if problems or runtime is None:
        raise Refusal(*problems)
    running = tuple(service for service in services if service is not None and service.args.workers)
    return Config(graph, running, runtime, _dotted(runtime_section), document.name or None)


def _unknown_services(graph: Graph, document: Document, overrides: Sequence[Override]) -> Iterator[str]:
    known = [*(service.name for service in graph.services), COMMON, RUNTIME]
    for name, content in document.data.items():
        if name not in known:
            yield f"{document.place(name)}: no service {name!r} in {graph.name}: {did_you_mean(name, known)}"
        elif not isinstance(content, dict | None):
            yield f"{document.place(name)}: {name} must map settings to values, not {content!r}"
    for override in overrides:
        if override.service not in known:
            yield (
                f"{override.shown}: no service {override.service!r} in {graph.name}: "
                f"{did_you_mean(override.service, known)}"
            )


def _misused_common(common: Section, own: Mapping[str, Section]) -> Iterator[str]:
    copied: set[str] = set()
    for service, section in own.items():
        listed = section.get((COMMON_KEYS,))
        if listed is None:
            continue
        if not isinstance(listed.value, list):
            yield f"{listed.origin}: {service}.{COMMON_KEYS} must be a list of keys of {COMMON}"
            continue
        for name in map(str, listed.value):
            copied.add(name)
            if (name,) not in common:
                names = [path[0] for path in common]
                yield f"{listed.origin}: {service}.{COMMON_KEYS}: {COMMON} has no {name!r}: {did_you_mean(name, names)}"
    for (name, *_), value in common.items():
        if name not in copied:
            yield f"{value.origin}: {COMMON}.{name} goes nowhere: list it in some service's {COMMON_KEYS}"


def _service(
    graph: Graph, service: Service, own: Section, common: Section, problems: list[str]
) -> ServiceConfig | None:
    worker = _worker(service, own, problems)
    if worker is None:
        return None
    if launch := own.get((LAUNCH,)):
        problems.append(f"{launch.origin}: {service.name}.{LAUNCH} must map names to values, not {launch.value!r}")
        return None
    section = default_section(graph, service, worker) | common_section(own, common) | own
    section.pop((COMMON_KEYS,), None)
    flags = {path: value for path, value in section.items() if path[0] != LAUNCH}
    launched = {path[1:]: value for path, value in section.items() if path[0] == LAUNCH}
    settings = checked(worker.load_settings(), service.name, flags, problems)
    args = checked(ServiceArgs, f"{service.name}.{LAUNCH}", launched, problems)
    if settings is None or args is None:
        return None
    return ServiceConfig(service, worker, settings, args, _dotted(section))


def _worker(service: Service, own: Section, problems: list[str]) -> Worker | None:
    chosen = own.get((LAUNCH, "worker"))
    kinds = {worker.name: worker for worker in service.workers}
    if chosen is None:
        return service.workers[0]
    if chosen.value not in kinds:
        hint = did_you_mean(str(chosen.value), kinds)
        problems.append(f"{chosen.origin}: {service.name} cannot be run by {chosen.value!r}: {hint}")
    return kinds.get(chosen.value)


def _dotted(section: Section) -> dict[str, Value]:
    return {".".join(path): value for path, value in section.items()}
