"""A kind of worker: the program behind a service, its settings, and how its process is started and seen to be ready."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, cast

if TYPE_CHECKING:
    from graphs.settings.base import Settings

# "chat": it is the OpenAI server at its `http-host` and `http-port`, and a chat completion answers.
# "endpoint": it is a Dynamo worker, and its `generate` endpoint is served.
# "status": the same, and its status server says so and shows the engine's metrics on every kind of runtime.
# "port": the port that its settings name accepts connections: `rpc-address` and `rpc-port`, or a client's own.
# "started": there is nothing to ask.
Readiness = Literal["chat", "endpoint", "status", "port", "started"]


@dataclass(frozen=True)
class Worker:
    """A program that can stand behind a service.

    Attributes:
        name: What `ServiceArgs: {worker: …}` says.
        settings: Its settings class, or `module:class` where importing it is left until it is used.
        module: What follows `python -m`; empty when `program` is given.
        program: A console script beside the Python that runs this command, for workers that are no Python module.
        fixed: Arguments that follow from its part in the graph and that no configuration changes.
        readiness: How to see that it is ready.
        uses_gpus: Whether it takes the GPUs of the service's topology unless a configuration says otherwise.
        topology_flags: For `tensor_parallel`, `data_parallel` and `expert_parallel`, the flag that sets it.
        model_flag: The setting that names the model's folder or hub id.
        name_flag: The setting that names the served model.
        requires: Distributions and the version each must have.
        ready_seconds: Time within which it must be ready unless a configuration says otherwise.
        drain_seconds: Time that it has to finish its requests unless a configuration says otherwise.
    """

    name: str
    settings: "type[Settings] | str"
    module: str = ""
    program: str = ""
    fixed: tuple[str, ...] = ()
    readiness: Readiness = "endpoint"
    uses_gpus: bool = False
    topology_flags: Mapping[str, str] = field(default_factory=dict)
    model_flag: str = "model-path"
    name_flag: str = "model-name"
    requires: Mapping[str, str] = field(default_factory=dict)
    ready_seconds: float = 60.0
    drain_seconds: float = 10.0

    def load_settings(self) -> "type[Settings]":
        """Import the settings class if it was given by name."""
        if not isinstance(self.settings, str):
            return self.settings
        module, _, name = self.settings.partition(":")
        loaded: Any = getattr(import_module(module), name)
        return cast("type[Settings]", loaded)
