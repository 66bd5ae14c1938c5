"""Stand-ins for packages that another parser's package imports, but its parser never calls.

vLLM and SGLang are installed without their dependencies, which would bring a second torch. Their packages import image
and web libraries on the way to a parser of text; empty modules are enough there. Only for a process of the peer's own.
"""

import sys
from collections.abc import Collection, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


class _Everything(type):
    """A class that has every attribute and every type parameter: each is a class of the same kind."""

    def __getattr__(cls, name: str) -> Any:
        return _empty(name)

    def __getitem__(cls, parameters: Any) -> Any:
        return cls


def _empty(name: str) -> Any:
    """Return a class that can be an annotation, a base, a decorator, a field of a pydantic model or a constant."""
    if name.startswith("__"):
        raise AttributeError(name)
    return _Everything(
        name,
        (),
        {"__init__": lambda *_, **__: None, "__get_pydantic_core_schema__": lambda *_: {"type": "any"}},
    )


class _Finder(MetaPathFinder, Loader):
    """Finds an empty module for every name in some packages."""

    def __init__(self, packages: Collection[str]) -> None:
        self._packages = packages

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        del path, target
        return ModuleSpec(name, self, is_package=True) if name.partition(".")[0] in self._packages else None

    def exec_module(self, module: ModuleType) -> None:
        vars(module)["__getattr__"] = _empty


def stand_in(packages: Collection[str]) -> None:
    """Let packages that are not installed be imported as if they were; those that are stay themselves.

    Args:
        packages: Their names.
    """
    sys.meta_path.append(_Finder(packages))
