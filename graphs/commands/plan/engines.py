"""The engines of a configuration, each with its ladder."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from graphs.config import Config, ServiceConfig
from graphs.errors import Refusal
from graphs.memory.devices import DEVICES, Device
from graphs.memory.devices import device as device_of
from graphs.memory.host import Tier, tiers
from graphs.memory.ladder import Engine, Ladder, ladder
from graphs.memory.mends import Mend, mends
from graphs.memory.shapes import KNOWN, Shapes, known, read
from graphs.memory.weights import format_of
from graphs.nearest import did_you_mean
from graphs.settings.vllm import VllmSettings


class Planned(msgspec.Struct, frozen=True):
    """One engine, and what is to be said of it.

    Attributes:
        engine: What decides its ladder.
        ladder: One GPU's.
        tiers: Host memory behind it.
        mends: What would make it fit, where it does not.
        engines: How many of them the graph runs; an engine over several machines is one.
    """

    engine: Engine
    ladder: Ladder
    tiers: tuple[Tier, ...]
    mends: tuple[Mend, ...]
    engines: int


def planned(
    config: Config, *, device: Device | None, model: Path | None, weights: str | None, assumed: Mapping[str, int]
) -> list[Planned]:
    """Return every vLLM engine of a configuration with its ladder.

    Args:
        config: The configuration.
        device: GPU of all engines, instead of the configuration's.
        model: Where to read shapes, instead of those that are known.
        weights: Format of the weights, instead of what the model's name says.
        assumed: Sizes of rungs that are assumed, in bytes, by name.

    Raises:
        Refusal: There is no vLLM engine, or a GPU, a model or an assumption is not known.
    """
    shapes = read(model) if model else None
    found = []
    for service in config.services:
        if isinstance(settings := service.settings, VllmSettings):
            checkpoint = settings.model or ""
            engine = Engine(
                service.service.name,
                settings,
                shapes or _known(checkpoint, service),
                weights or format_of(checkpoint),
                device or _device(service),
                assumed,
            )
            found.append(_planned(config, service, engine))
    if not found:
        raise Refusal(f"{config.file or config.graph.name}: no service runs vLLM, so there is no GPU memory to plan")
    _check_assumed(assumed, found)
    return found


def _planned(config: Config, service: ServiceConfig, engine: Engine) -> Planned:
    own = ladder(engine)
    changes = tuple(mends(engine)) if own.missing_bytes else ()
    return Planned(engine, own, tiers(config, engine.settings, own), changes, service.args.workers)


def _known(checkpoint: str, service: ServiceConfig) -> Shapes:
    if (shapes := known(checkpoint)) is None:
        raise Refusal(
            f"{service.service.name}.model {checkpoint}: not one of {', '.join(KNOWN)} by its name: "
            "give its config.json with --model"
        )
    return shapes


def _device(service: ServiceConfig) -> Device:
    if (name := service.args.resources.gpu_type) is None:
        place = f"{service.service.name}.ServiceArgs.resources.gpu-type"
        raise Refusal(f"{place}: not set: set it, or give --gpu with one of {', '.join(DEVICES)}, or --hbm-gib")
    return device_of(name)


def _check_assumed(assumed: Mapping[str, int], found: list[Planned]) -> None:
    names = sorted({rung.name for each in found for rung in each.ladder.rungs if rung.kind == "assumed"})
    for name in assumed:
        if name not in names:
            raise Refusal(f"--assume {name}: {did_you_mean(name, names)}")
