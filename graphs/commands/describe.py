"""`dynamo graphs`: the graphs of a module, drawn with words."""

import json
import sys
from collections.abc import Iterator
from typing import Any

from graphs.commands import options
from graphs.model import Graph, Service


def describe(
    module: options.Target = "graphs", as_json: options.Json = False, working_dir: options.WorkingDir = None
) -> int:
    """Show the graphs of a module: services, topology, workers and links."""
    found = options.load_graphs(module, working_dir)
    if as_json:
        sys.stdout.write(json.dumps([_plain(graph) for graph in found]) + "\n")
    else:
        sys.stdout.write("\n".join("\n".join(_drawn(graph)) + "\n" for graph in found))
    return 0


def _drawn(graph: Graph) -> Iterator[str]:
    ratio = f", P/D {graph.replicas('prefill')}:{graph.replicas('decode')}"
    yield f"{graph.name}: {len(graph.services)} services{ratio if graph.replicas('prefill') else ''}"
    width = max(len(service.name) for service in graph.services)
    for service in graph.services:
        yield f"  {service.name:<{width}}  {_shape(service):<20}  {' | '.join(w.name for w in service.workers)}"
    for link in graph.links:
        yield f"  {link.source} ─{link.carries or ''}─▶ {link.to}"
    if graph.config:
        yield f"  without -f: {graph.config}"


def _shape(service: Service) -> str:
    if service.topology is None:
        return "optional" if service.optional else f"{service.replicas} x"
    return f"{service.replicas} x {service.topology}, {service.replicas * service.topology.gpus} GPUs"


def _plain(graph: Graph) -> dict[str, Any]:
    return {
        "name": graph.name,
        "config": str(graph.config) if graph.config else None,
        "services": [
            {
                "name": service.name,
                "role": service.role,
                "workers": [worker.name for worker in service.workers],
                "topology": str(service.topology) if service.topology else None,
                "replicas": service.replicas,
                "gpus_per_replica": service.topology.gpus if service.topology else 0,
                "optional": service.optional,
            }
            for service in graph.services
        ],
        "links": [{"source": link.source, "to": link.to, "carries": link.carries} for link in graph.links],
    }
