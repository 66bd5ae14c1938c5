"""Everything that can be known to be wrong before a graph starts."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from graphs.checks.agreement import agreement
from graphs.checks.capacity import capacity
from graphs.checks.check import Check
from graphs.checks.engines.rules import rules
from graphs.checks.model_files import models
from graphs.checks.planes import planes
from graphs.checks.ports import ports
from graphs.checks.programs import programs
from graphs.checks.versions import modules, namespace, versions
from graphs.config import Config
from graphs.machine import Machine
from graphs.process import Plan


def preflight(config: Config, plan: Plan, machine: Machine, *, only: str | None = None) -> Iterator[Check]:
    """Look at everything that the plan rests on; nothing is started and nothing is written."""
    services = tuple(service for service in config.services if only in {None, service.service.name})
    return chain(
        versions(services),
        namespace(Path.cwd()),
        modules(services),
        programs(plan),
        models(services),
        agreement(config),
        capacity(config, machine, only),
        rules(config, machine, only),
        ports(services),
        planes(config),
    )
