"""`dynamo doctor`: the checks of `dynamo serve`, all of them shown, and nothing started."""

import json
import os
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

import typer

from graphs.checks.check import Check
from graphs.commands import options
from graphs.plan import make_plan
from graphs.preflight import preflight

_OK = "\x1b[32m✓\x1b[0m", "ok"
_BAD = "\x1b[31m✗\x1b[0m", "BAD"


def doctor(
    context: typer.Context,
    *,
    target: options.Target = options.DEFAULT_TARGET,
    file: options.File = None,
    as_json: options.Json = False,
    service_name: options.ServiceName = None,
    working_dir: options.WorkingDir = None,
) -> int:
    """Check this machine for a graph: versions, model, GPUs, ports, servers between machines."""
    config = options.load_config(target, file, context.obj, working_dir)
    options.check_service(config, service_name)
    machine = options.this_machine(config)
    plan = make_plan(config, machine, Path(os.devnull), only=service_name)
    checks = list(preflight(config, plan, machine, only=service_name))
    if as_json:
        sys.stdout.write(json.dumps([asdict(check) | {"ok": check.ok} for check in checks]) + "\n")
    else:
        sys.stdout.writelines(_lines(checks, colour=sys.stdout.isatty()))
    return 0 if all(check.ok for check in checks) else 2


def _lines(checks: Iterable[Check], *, colour: bool) -> Iterable[str]:
    for check in checks:
        mark = _OK if check.ok else _BAD
        yield f"{mark[0] if colour else mark[1]:<3} {check}\n"
