"""What a graph is: services, how they link, how wide each one is, and how many GPUs that takes.

    Frontend.link(Prefill).link(Decode).link(Mooncake, source=Prefill)

Every value here is frozen: `link` returns a new graph, and nothing is registered anywhere.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from graphs.worker import Worker

Role = Literal["frontend", "prefill", "decode", "store"]


@dataclass(frozen=True)
class Topology:
    """How one replica of a worker is cut over GPUs.

    Attributes:
        tensor_parallel: GPUs that share each layer's matrices.
        data_parallel: Attention ranks, each with its own KV cache and its own requests.
        expert_parallel: Whether the experts are sharded over all ranks.
    """

    tensor_parallel: int = 1
    data_parallel: int = 1
    expert_parallel: bool = False

    @property
    def gpus(self) -> int:
        """GPUs of one replica."""
        return self.tensor_parallel * self.data_parallel

    def __str__(self) -> str:
        tensor = f"TP{self.tensor_parallel}" if self.tensor_parallel > 1 or self.data_parallel == 1 else ""
        data = f"D{'E' if self.expert_parallel else ''}P{self.data_parallel}" if self.data_parallel > 1 else ""
        return data + tensor


def dep(ranks: int) -> Topology:
    """`ranks` data-parallel attention ranks in one engine, with the experts sharded over them."""
    return Topology(data_parallel=ranks, expert_parallel=True)


def tp(gpus: int) -> Topology:
    """One engine, each layer's matrices shared by `gpus` GPUs."""
    return Topology(tensor_parallel=gpus)


@dataclass(frozen=True)
class Service:
    """One box of the diagram: a number of equal worker processes.

    Attributes:
        name: Top-level key in the YAML, such as `Prefill`.
        role: Its part in answering a request; it decides the order in which services stop.
        workers: What may run it; a configuration chooses by name, the first is the default.
        topology: How one replica is cut over GPUs, or None when it has no engine.
        replicas: Number of processes unless a configuration says otherwise.
        defaults: Settings unless a configuration says otherwise, by the worker's flag names.
        optional: Whether it runs only when a configuration mentions it.
    """

    name: str
    role: Role
    workers: tuple[Worker, ...]
    topology: Topology | None = None
    replicas: int = 1
    defaults: Mapping[str, Any] = field(default_factory=dict)
    optional: bool = False

    def link(self, to: "Service", carries: str = "") -> "Graph":
        """Begin a graph with the link from this service to another; `carries` says what flows along it."""
        return Graph((self,)).link(to, carries, source=self)


@dataclass(frozen=True)
class Link:
    """An arrow of the diagram: `source` hands `carries` to `to`."""

    source: str
    to: str
    carries: str = ""


@dataclass(frozen=True)
class Graph:
    """Services and links, in the order in which a request meets them.

    Attributes:
        services: Without repeats; the first is where requests enter.
        links: The arrows.
        config: The configuration file that is used when none is given, or None.
        name: How the graph is called; the attribute's name when it is loaded without one.
    """

    services: tuple[Service, ...]
    links: tuple[Link, ...] = ()
    config: Path | None = None
    name: str = ""

    def link(self, to: Service, carries: str = "", *, source: Service | None = None) -> "Graph":
        """Add a link from `source` (by default the service added last) to `to`."""
        origin = source or self.services[-1]
        services = self.services if to in self.services else (*self.services, to)
        if len({service.name for service in services}) != len(services):
            raise ValueError(f"two services of one graph are named {to.name!r}")
        if origin not in services:
            raise ValueError(f"{origin.name} is linked to {to.name} before it is in the graph")
        return replace(self, services=services, links=(*self.links, Link(origin.name, to.name, carries)))

    def with_config(self, path: Path) -> "Graph":
        """Use this configuration file when none is given."""
        return replace(self, config=path)

    def service(self, name: str) -> Service:
        """Find a service by name.

        Raises:
            KeyError: There is none.
        """
        return {service.name: service for service in self.services}[name]

    def replicas(self, role: Role) -> int:
        """Replicas of all services with this role, before any configuration."""
        return sum(service.replicas for service in self.services if service.role == role)
