"""All rules about engines."""

from collections.abc import Iterator
from itertools import chain

from graphs.checks.check import Check
from graphs.checks.engines.addresses import addresses
from graphs.checks.engines.agreement import agreement
from graphs.checks.engines.connectors import connectors
from graphs.checks.engines.context_parallel import context_parallel
from graphs.checks.engines.engine import engines, summary
from graphs.checks.engines.hisparse import hisparse
from graphs.checks.engines.ranks import ranks
from graphs.checks.engines.rows import rows
from graphs.checks.engines.speculation import speculation
from graphs.checks.engines.stores import stores
from graphs.config import Config
from graphs.machine import Machine


def rules(config: Config, machine: Machine, only: str | None = None) -> Iterator[Check]:
    """What cannot be served of a graph's engines, or, where nothing is wrong, each of them in a line."""
    found = engines(config)
    # With one service to start, what is wrong with another's own settings is told where that one starts.
    here = [engine for engine in found if only in {None, engine.name}]
    checks = list(
        chain(
            connectors(here),
            agreement(found),
            rows(here, machine),
            context_parallel(config, here),
            hisparse(here),
            ranks(config, here),
            addresses(config, here),
            stores(config, found),
            speculation(here),
        )
    )
    if all(check.ok for check in checks):
        yield from map(summary, here)
    yield from checks
