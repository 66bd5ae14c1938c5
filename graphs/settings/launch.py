"""`ServiceArgs`: what the launcher, not the worker, needs to know about a service."""

from typing import Annotated

from pydantic import Field, NonNegativeInt, WithJsonSchema

from graphs.process import Restart
from graphs.settings.base import Strict

# A number may be written as one.
Text = Annotated[str, WithJsonSchema({"type": ["string", "number"]})]


class Resources(Strict):
    """What one replica takes of a machine."""

    gpu: NonNegativeInt = Field(
        default=0, description="GPUs of one replica; by default those of the topology for an engine, else none."
    )
    gpu_type: str | None = Field(
        default=None, description="Which GPU: h100, h200, b200 or gb200; `dynamo plan` reads it."
    )


class ServiceArgs(Strict):
    """How a service is started, by the launcher's own names."""

    worker: str = Field(default="", description="What runs the service; by default the first kind it knows.")
    workers: NonNegativeInt = Field(default=1, description="Number of processes; 0 leaves the service out.")
    resources: Resources = Field(default=Resources(), description="What one replica takes of a machine.")
    envs: dict[str, Text] = Field(default={}, description="Environment of each process, above the launcher's.")
    restart: Restart = Field(
        default="backoff", description="After a crash: start it again, waiting longer each time, or end the graph."
    )
    ready_seconds: float = Field(default=60.0, gt=0, description="Time within which a process must be ready.")
    drain_seconds: float = Field(default=10.0, gt=0, description="Time that a process has to finish its requests.")
