"""A JSON Schema of a graph's configuration file, for editors."""

from typing import Any

from pydantic import BaseModel

from graphs.layers import COMMON, COMMON_KEYS, LAUNCH, RUNTIME
from graphs.model import Graph, Service
from graphs.settings.launch import ServiceArgs
from graphs.settings.runtime import Runtime


def schema(graph: Graph) -> dict[str, Any]:
    """Describe the file: a key for each service, `Common` and `Runtime`.

    A service that several kinds of worker can run accepts the settings of each, since its worker is chosen in the file.
    """
    shared: dict[str, Any] = {}
    sections = {service.name: _service(service, shared) for service in graph.services}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Configuration of {graph.name}",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            COMMON: {"type": "object", "description": f"Settings that services copy in with {COMMON_KEYS}."},
            RUNTIME: _described(Runtime, shared),
            **sections,
        },
        "$defs": shared,
    }


def _described(model: type[BaseModel], shared: dict[str, Any]) -> dict[str, Any]:
    # What a model refers to is looked for at the root of the whole schema.
    described = model.model_json_schema()
    shared |= described.pop("$defs", {})
    return described


def _service(service: Service, shared: dict[str, Any]) -> dict[str, Any]:
    kinds = [worker.load_settings() for worker in service.workers]
    properties: dict[str, Any] = {}
    for kind in reversed(kinds):
        properties |= _described(kind, shared)["properties"]
    launch = _described(ServiceArgs, shared)
    launch["properties"]["worker"]["enum"] = [worker.name for worker in service.workers]
    return {
        "type": ["object", "null"],
        "additionalProperties": any(kind.open() for kind in kinds),
        "properties": {
            **properties,
            COMMON_KEYS: {"type": "array", "items": {"type": "string"}, "description": f"Keys of {COMMON} to copy in."},
            LAUNCH: launch,
        },
    }
