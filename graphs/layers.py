"""Where settings come from: the graph's defaults, then the file, then the command line. Each value keeps its origin."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from graphs.model import Graph, Service
from graphs.overrides import Override
from graphs.worker import Worker
from graphs.yamlfile import Document, KeyPath

LAUNCH = "ServiceArgs"
COMMON = "Common"
COMMON_KEYS = "common-configs"
RUNTIME = "Runtime"


@dataclass(frozen=True)
class Value:
    """A value and where it came from.

    Attributes:
        value: As written, before it is checked.
        layer: Which layer won.
        origin: `file:line`, the words on the command line, or which default it is.
    """

    value: Any
    layer: Literal["default", "file", "override"]
    origin: str


# One section's values by path: `("block-size",)`, `("ServiceArgs", "resources", "gpu")`.
Section = dict[KeyPath, Value]


def file_section(document: Document, name: str) -> Section:
    """The values that a file gives to one service, or to `Common` or `Runtime`; an empty value is none."""
    content = document.data.get(name)
    entries = content.items() if isinstance(content, dict) else ()
    return {
        path: Value(value, "file", document.place(name, *path))
        for key, below in entries
        for path, value in _leaves((key,), below)
        if value is not None
    }


def override_section(overrides: Sequence[Override], name: str) -> Section:
    """The values that the command line gives to one service, or to `Common` or `Runtime`; the last one wins."""
    return {
        path: Value(value, "override", override.shown)
        for override in overrides
        if override.service == name
        for path, value in _leaves(override.key, override.value)
    }


def default_section(graph: Graph, service: Service, worker: Worker) -> Section:
    """What a service is when nobody says otherwise: the graph's own defaults and what its topology implies."""
    of_graph = f"default of {graph.name}"
    values: Section = {(key,): Value(value, "default", of_graph) for key, value in service.defaults.items()}
    values[LAUNCH, "worker"] = Value(worker.name, "default", of_graph)
    values[LAUNCH, "workers"] = Value(service.replicas, "default", of_graph)
    of_worker = f"default of {worker.name}"
    values[LAUNCH, "ready-seconds"] = Value(worker.ready_seconds, "default", of_worker)
    values[LAUNCH, "drain-seconds"] = Value(worker.drain_seconds, "default", of_worker)
    if service.topology is not None:
        of_topology = f"topology {service.topology} of {graph.name}"
        if worker.uses_gpus:
            values[LAUNCH, "resources", "gpu"] = Value(service.topology.gpus, "default", of_topology)
        for dimension, flag in worker.topology_flags.items():
            values[(flag,)] = Value(getattr(service.topology, dimension), "default", of_topology)
    return values


def common_section(own: Section, common: Section) -> Section:
    """The values of `Common` that a service copies in by naming their keys in `common-configs`."""
    listed = own.get((COMMON_KEYS,))
    names = listed.value if listed and isinstance(listed.value, list) else ()
    return {
        (name,): Value(value.value, value.layer, f"{value.origin} ({COMMON})")
        for name in names
        if (value := common.get((name,)))
    }


def _leaves(path: KeyPath, value: Any) -> Iterator[tuple[KeyPath, Any]]:
    # `ServiceArgs` is merged key by key; every other mapping is one value, a JSON argument.
    if path[0] == LAUNCH and isinstance(value, dict):
        for key, child in value.items():
            yield from _leaves((*path, key), child)
    else:
        yield path, value
