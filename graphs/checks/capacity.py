"""The machine has the GPUs that the topology takes, and each engine is as wide as what it is given."""

from collections.abc import Iterator

from graphs import gpus
from graphs.checks.check import Check
from graphs.config import Config, ServiceConfig
from graphs.machine import Machine
from graphs.settings.vllm import VllmSettings


def capacity(config: Config, machine: Machine, only: str | None) -> Iterator[Check]:
    """GPUs needed against GPUs present, and each engine's width against its `ServiceArgs.resources.gpu`."""
    wanted = gpus.needed(config, only)
    present = len(machine.gpus)
    if wanted > present:
        yield Check(
            "GPUs",
            f"{gpus.sum_shown(config, only)} are needed and this machine has {present}",
            "lower ServiceArgs.workers, or start each service where its GPUs are with --service-name",
        )
    elif wanted:
        yield Check("GPUs", f"{gpus.sum_shown(config, only)} of {present}")
    for service in config.services:
        width = _width(service)
        given = service.args.resources.gpu
        # None at all is an engine on CPUs.
        if given and width and given != width and only in {None, service.service.name}:
            yield Check(
                f"{service.service.name} topology",
                f"its flags take {width} GPUs and ServiceArgs.resources.gpu gives {given}",
                f"set --{service.service.name}.ServiceArgs.resources.gpu={width}",
            )


def _width(service: ServiceConfig) -> int | None:
    return service.settings.gpus if isinstance(service.settings, VllmSettings) else None
