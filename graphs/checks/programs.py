"""The programs of workers that are no Python module are there and can be run."""

import os
from collections.abc import Iterator
from pathlib import Path

from graphs.checks.check import Check
from graphs.process import Plan

_PACKAGES = dict.fromkeys(("mooncake_master", "mooncake_client"), "mooncake-transfer-engine==0.3.13.post1")


def programs(plan: Plan) -> Iterator[Check]:
    """The first word of every command; each program once."""
    for path in sorted({Path(process.argv[0]) for process in plan.processes}):
        package = _PACKAGES.get(path.name)
        if not os.access(path, os.X_OK):
            yield Check(path.name, f"there is no {path}", f"pip install {package or 'what provides it'}")
        elif package:
            yield Check(path.name, str(path))
