"""The machine and the versions a benchmark ran on, in one line."""

import os
import platform
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path


def cpu_model(cpuinfo: str) -> str:
    """Return the processor's name.

    Args:
        cpuinfo: The text of Linux's ``/proc/cpuinfo``.
    """
    for line in cpuinfo.splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return platform.machine()


def describe(packages: Iterable[str]) -> str:
    """Return cores, processor, Python, the packages' versions and the load before the run (1-minute average)."""
    cores = len(os.sched_getaffinity(0))
    versions = ", ".join(f"{package} {metadata.version(package)}" for package in packages)
    model = cpu_model(Path("/proc/cpuinfo").read_text())
    return (
        f"{cores} cores of {model}, Linux {platform.release()}, Python {platform.python_version()}, {versions}; "
        f"load average before the run {os.getloadavg()[0]:.1f}"
    )
