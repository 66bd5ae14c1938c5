"""What several commands take, and how a configuration is made of it."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from graphs import gpus, target, yamlfile
from graphs.config import Config, resolve
from graphs.engines import ports
from graphs.errors import Refusal
from graphs.machine import Machine, detect_gpus, free_ports, lowest_capability
from graphs.model import Graph
from graphs.nearest import did_you_mean
from graphs.overrides import Override

Target = Annotated[str, typer.Argument(help="module[:attr] or path/file.py[:attr]", metavar="TARGET")]
File = Annotated[Path | None, typer.Option("-f", "--config-file", help="Configuration; by default the graph's own.")]
Json = Annotated[bool, typer.Option("--json", help="Write JSON, for programs; errors too.")]
WorkingDir = Annotated[Path | None, typer.Option(help="Where the target is looked for first; by default here.")]
ServiceName = Annotated[str | None, typer.Option(help="Only this service: one of several machines.")]

DEFAULT_TARGET = "graphs:glm53"


def load_graph(name: str, working_dir: Path | None) -> Graph:
    """Find the graph; the working directory becomes the current one, for the workers as well.

    Raises:
        Refusal: There is no such folder or graph.
    """
    return target.load(name, _enter(working_dir))


def load_graphs(name: str, working_dir: Path | None) -> list[Graph]:
    """Find the graph, or all graphs of a module when no attribute is named.

    Raises:
        Refusal: There is no such folder, module or graph.
    """
    folder = _enter(working_dir)
    return [target.load(name, folder)] if ":" in name else target.load_all(name, folder)


def load_config(name: str, file: Path | None, overrides: Sequence[Override], working_dir: Path | None = None) -> Config:
    """Find the graph and resolve its settings; `file` is relative to where the command was given.

    Raises:
        Refusal: Something in the target, the file or the overrides is wrong.
    """
    chosen = file.absolute() if file else None
    graph = load_graph(name, working_dir)
    path = chosen or graph.config
    return resolve(graph, yamlfile.read(path) if path else None, overrides)


def check_service(config: Config, only: str | None) -> None:
    """Refuse a service that does not run, and one that could not find the rest of its graph.

    Raises:
        Refusal: With the mend.
    """
    names = [service.service.name for service in config.services]
    if only is None:
        return
    if only not in names:
        raise Refusal(f"--service-name {only}: {config.graph.name} does not run it: {did_you_mean(only, names)}")
    if not config.runtime.spans_machines:
        raise Refusal(
            f"--service-name {only}: alone it finds no other service: name what all machines share, with "
            "--discovery-backend etcd --etcd-endpoints URL, or --store-path FOLDER"
        )


def this_machine(config: Config) -> Machine:
    """What the graph may use here; GPUs are looked for only if some service takes them."""
    count = sum(service.args.workers * sum(ports.wanted(service).values()) for service in config.services)
    if not gpus.needed(config):
        return Machine(ports=free_ports(count))
    return Machine(detect_gpus(), free_ports(count), lowest_capability())


def _enter(working_dir: Path | None) -> Path:
    if working_dir is not None:
        try:
            os.chdir(working_dir)
        except OSError as error:
            raise Refusal(f"--working-dir {working_dir}: {error.strerror}") from error
    return Path.cwd()
