"""`dynamo serve`: bring a graph up on this machine, or show what would be done."""

import secrets
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from graphs import show, standin, supervisor
from graphs.commands import options
from graphs.config import Config
from graphs.errors import Refusal
from graphs.machine import Machine
from graphs.overrides import Override
from graphs.plan import make_plan
from graphs.preflight import preflight


def serve(
    context: typer.Context,
    *,
    target: options.Target,
    file: options.File = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show each process's command; start nothing.")] = False,
    as_json: options.Json = False,
    origins: Annotated[bool, typer.Option("--origins", help="Show where each value came from; start nothing.")] = False,
    service_name: options.ServiceName = None,
    working_dir: options.WorkingDir = None,
    discovery_backend: Annotated[
        str | None, typer.Option(metavar="file|etcd|kubernetes", help="Where processes register.")
    ] = None,
    request_plane: Annotated[str | None, typer.Option(metavar="tcp|nats", help="How requests travel.")] = None,
    event_plane: Annotated[str | None, typer.Option(metavar="zmq|nats", help="How KV events travel.")] = None,
    etcd_endpoints: Annotated[str | None, typer.Option(metavar="URL[,URL]", help="Where etcd is.")] = None,
    nats_server: Annotated[str | None, typer.Option(metavar="URL", help="Where NATS is.")] = None,
    store_path: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Discovery folder that all machines share.")
    ] = None,
) -> int:
    """Serve a graph. Any setting can be given as --Service.key=value, such as --Frontend.http-port=9000."""
    runtime = {
        "discovery-backend": discovery_backend,
        "request-plane": request_plane,
        "event-plane": event_plane,
        "etcd-endpoints": etcd_endpoints,
        "nats-server": nats_server,
        "store-path": store_path,
    }
    overrides = [*context.obj, *_runtime_overrides(runtime)]
    config = options.load_config(target, file, overrides, working_dir)
    options.check_service(config, service_name)
    machine = options.this_machine(config)
    if dry_run or origins:
        _show(config, machine, service_name, as_json=as_json, commands=dry_run, origins=origins)
        return 0
    return _serve(config, machine, service_name, as_json=as_json)


def _runtime_overrides(given: dict[str, str | None]) -> Iterator[Override]:
    for key, value in given.items():
        if value is not None:
            yield Override("Runtime", (key,), value, f"--{key}={value}")


def _show(config: Config, machine: Machine, only: str | None, *, as_json: bool, commands: bool, origins: bool) -> None:
    # Named like the folder of a run, and not made: the commands make it when they are run.
    folder = Path(tempfile.gettempdir()) / f"dynamo-{config.graph.name}-{secrets.token_hex(4)}"
    plan = make_plan(config, machine, folder, only=only)
    if as_json:
        sys.stdout.write(show.as_json(plan, config) + "\n")
        return
    parts = [show.as_table(config)] if origins else []
    parts += [show.as_shell(plan)] if commands else []
    sys.stdout.write("\n".join(parts))


def _serve(config: Config, machine: Machine, only: str | None, *, as_json: bool) -> int:
    with _run_dir(config.graph.name) as run_dir:
        plan = make_plan(config, machine, run_dir, only=only)
        problems = [str(check) for check in preflight(config, plan, machine, only=only) if not check.ok]
        if problems:
            raise Refusal(*problems)
        for path, text in plan.files.items():
            path.write_text(text, encoding="utf-8")
        if plan.stand_in is not None:
            standin.make(plan.stand_in)
        settings = supervisor.Options(terminal=False) if as_json else supervisor.Options()
        return supervisor.run(plan, settings)


@contextmanager
def _run_dir(graph: str) -> Iterator[Path]:
    # Until the supervisor listens for signals, SIGTERM must not leave the folder behind.
    before = signal.signal(signal.SIGTERM, _leave)
    folder = Path(tempfile.mkdtemp(prefix=f"dynamo-{graph}-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        signal.signal(signal.SIGTERM, before)


def _leave(number: int, _frame: Any) -> None:
    sys.exit(128 + number)
