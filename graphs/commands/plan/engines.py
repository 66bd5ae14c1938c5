"""The engines of a configuration, each with its ladder."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from components.kvcache.rows import ROWS
from graphs.config import Config, ServiceConfig
from graphs.errors import Refusal
from graphs.memory import checkpoint as checkpoints
from graphs.memory.calibration import Startup, calibrated
from graphs.memory.checkpoint import Checkpoint
from graphs.memory.devices import DEVICES, Device
from graphs.memory.devices import device as device_of
from graphs.memory.host import Tier, tiers
from graphs.memory.ladder import Engine, Ladder, ladder, row_of
from graphs.memory.mends import Mend, mends
from graphs.memory.shapes import KNOWN, Shapes, known, read
from graphs.memory.topology import impossible, topology
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


class Given(msgspec.Struct, frozen=True):
    """What the command line says instead of the configuration.

    Attributes:
        device: GPU of all engines.
        model: Where to read shapes, and the sizes of the weights if they are there.
        weights: Format of the weights; those of `model` are not looked at then.
        assumed: Sizes of rungs that are assumed, in bytes, by name.
        startups: What starts of engines measured, by service; an empty name is that of the only one.
    """

    device: Device | None = None
    model: Path | None = None
    weights: str | None = None
    assumed: Mapping[str, int] = {}
    startups: Mapping[str, Startup] = {}


def planned(config: Config, given: Given) -> list[Planned]:
    """Return every vLLM engine of a configuration with its ladder.

    Args:
        config: The configuration.
        given: What is to be taken instead of its values.

    Raises:
        Refusal: There is no vLLM engine, or a GPU, a model, a service or an assumption is not known.
    """
    shapes = read(given.model) if given.model else None
    checkpoint = _checkpoint(given, shapes)
    services = [service for service in config.services if isinstance(service.settings, VllmSettings)]
    if not services:
        raise Refusal(f"{config.file or config.graph.name}: no service runs vLLM, so there is no GPU memory to plan")
    startups = _by_service(given.startups, [service.service.name for service in services])
    found = []
    for service in services:
        engine = _engine(service, given, shapes, checkpoint)
        if (startup := startups.get(engine.name)) is not None:
            engine = calibrated(engine, startup)
        found.append(_planned(config, service, engine))
    _check_assumed(given.assumed, found)
    return found


def _checkpoint(given: Given, shapes: Shapes | None) -> Checkpoint | None:
    if given.model is None or shapes is None or given.weights or not given.model.is_dir():
        return None
    return checkpoints.read(given.model, shapes)


def _engine(service: ServiceConfig, given: Given, shapes: Shapes | None, checkpoint: Checkpoint | None) -> Engine:
    settings = service.settings
    assert isinstance(settings, VllmSettings)  # noqa: S101 - others were left out
    name = service.service.name
    model = settings.model or ""
    shapes = shapes or _known(model, service)
    if (why := impossible(topology(settings), shapes)) is not None:
        raise Refusal(f"{name}.{why}")
    if not _is_count(drafted := (settings.speculative_config or {}).get("num_speculative_tokens", 1)):
        place = f"{name}.speculative-config num_speculative_tokens"
        raise Refusal(f"{place} {drafted!r}: write how many tokens are drafted, such as 3")
    device = given.device or _device(service)
    try:
        row_of(settings, device)
    except KeyError:
        known_rows = ", ".join(ROWS)
        raise Refusal(f"{name}.kv-cache-dtype {settings.kv_cache_dtype}: no row of MLA; known: {known_rows}") from None
    return Engine(
        name,
        service.service.role,
        settings,
        shapes,
        given.weights or (checkpoint.format if checkpoint else format_of(model)),
        device,
        given.assumed,
        checkpoint=checkpoint,
    )


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _by_service(startups: Mapping[str, Startup], names: list[str]) -> Mapping[str, Startup]:
    for name in startups:
        if not name and len(names) > 1:
            raise Refusal(f"--calibrate: write SERVICE=FILE, SERVICE one of {', '.join(names)}")
        if name and name not in names:
            raise Refusal(f"--calibrate {name}: {did_you_mean(name, names)}")
    return {name or names[0]: startup for name, startup in startups.items()}


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
    names = sorted({rung.name for each in found for rung in each.ladder.rungs if rung.kind in {"assumed", "logged"}})
    for name in assumed:
        if name not in names:
            raise Refusal(f"--assume {name}: {did_you_mean(name, names)}")
