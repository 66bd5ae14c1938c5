"""What `--dry-run` prints: the processes as commands for a shell or as JSON, and where each value came from."""

import json
import shlex
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from graphs import standin
from graphs.config import Config
from graphs.layers import LAUNCH, RUNTIME, Value
from graphs.process import ChatReady, HttpReady, Plan, PortReady, ProcessSpec, Ready
from graphs.settings.base import Strict, kebab


def as_shell(plan: Plan) -> str:
    """The plan as shell commands, each of which can be copied and run by itself, in this order."""
    return "\n\n".join(_blocks(plan)) + "\n"


def as_json(plan: Plan, config: Config) -> str:
    """The plan and the settings it came from, for programs."""
    return json.dumps(
        {
            "graph": plan.graph,
            "url": plan.url,
            "model": plan.model,
            "run_dir": str(plan.run_dir),
            "prepare": [list(command) for _, command in _before(plan)],
            "processes": [_process(process) for process in plan.processes],
            "settings": {
                name: {key: asdict(value) for key, value in values.items()} for name, values in origins(config).items()
            },
        },
        indent=2,
    )


def as_table(config: Config) -> str:
    """Every value and where it came from, one on a line."""
    rows = [
        (f"{name}.{key}", _compact(value.value), value.origin)
        for name, values in origins(config).items()
        for key, value in values.items()
    ]
    name_width, value_width = (max((len(row[column]) for row in rows), default=0) for column in (0, 1))
    return "".join(f"# {name:<{name_width}}  {value:<{value_width}}  {origin}\n" for name, value, origin in rows)


def origins(config: Config) -> dict[str, dict[str, Value]]:
    """Every value of every service that runs, and of `Runtime`, with its origin.

    The values are the checked ones; what nobody set comes from the defaults of the worker's settings or the launcher's.
    """
    found = {
        service.service.name: _effective(service.settings, service.origins, f"default of {service.worker.name}")
        | _effective(service.args, service.origins, "default of dynamo serve", f"{LAUNCH}.")
        for service in config.services
    }
    return found | {RUNTIME: _effective(config.runtime, config.runtime_origins, "default of dynamo serve")}


def _effective(values: Strict, given: Any, default: str, prefix: str = "") -> dict[str, Value]:
    effective: dict[str, Value] = {}
    for name, value in values:
        key = f"{prefix}{kebab(name)}"
        if isinstance(value, Strict):
            effective |= _effective(value, given, default, f"{key}.")
        elif value is not None:
            effective[key] = _with_origin(key, _plain(value), given, default)
    return effective


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value.model_dump(by_alias=True, exclude_none=True) if isinstance(value, Strict) else value


def _with_origin(key: str, value: Any, given: dict[str, Value], default: str) -> Value:
    # A mapping such as `envs` is given key by key; the origin of any of them is the place to look.
    found = given.get(key) or next((each for name, each in given.items() if name.startswith(f"{key}.")), None)
    return Value(value, found.layer, found.origin) if found else Value(value, "default", default)


def _blocks(plan: Plan) -> Iterator[str]:
    count = len(plan.processes)
    gpus = sum(len(process.gpus) for process in plan.processes)
    yield f"# {plan.graph}: {count} process{'es' if count != 1 else ''}, {gpus or 'no'} GPU{'s' if gpus > 1 else ''}"
    for title, command in _before(plan):
        yield f"# {title}, before all others\n{shlex.join(command)}"
    yield from map(_block, plan.processes)


def _before(plan: Plan) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What is done before the first process, each with its title."""
    for path, text in plan.files.items():
        script = f"mkdir -p {shlex.quote(str(path.parent))} && printf %s {shlex.quote(text)} > {shlex.quote(str(path))}"
        yield path.name, ("/bin/sh", "-c", script)
    if plan.stand_in:
        yield "the stand-in model", standin.command(plan.stand_in)


def _block(process: ProcessSpec) -> str:
    after = f", starts after {', '.join(process.after)}" if process.after else ""
    gpus = f"GPUs {','.join(map(str, process.gpus))}" if process.gpus else "no GPU"
    words = ["env", *(f"{name}={shlex.quote(value)}" for name, value in process.env.items())]
    command = " \\\n    ".join((" ".join(words), shlex.join(process.argv)))
    title = f"# {process.name}: {gpus}{after}, ready when {_ready(process.ready)}\n"
    return title + _ports(process) + command


def _ports(process: ProcessSpec) -> str:
    runs = [f"{name} {ports[0]}" + (f"-{ports[-1]}" if len(ports) > 1 else "") for name, ports in process.ports.items()]
    return f"# {process.name}: ports: {', '.join(runs)}\n" if runs else ""


def _ready(ready: Ready) -> str:
    match ready:
        case ChatReady(url, model):
            return f"{url}/v1/chat/completions answers for {model}"
        case HttpReady(url):
            return f"{url} answers 200"
        case PortReady(host, port):
            return f"{host}:{port} accepts connections"
        case _:
            return "it runs"


def _process(process: ProcessSpec) -> dict[str, Any]:
    return asdict(process) | {"ready": {"kind": type(process.ready).__name__, **asdict(process.ready)}}


def _compact(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
