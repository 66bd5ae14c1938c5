"""Find the graph that a person named: `module[:attr]` or `path/file.py[:attr]`, as the classic `dynamo serve` did."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from graphs.errors import Refusal
from graphs.model import Graph
from graphs.nearest import did_you_mean


def load(target: str, working_dir: Path) -> Graph:
    """Import the target's module, with the working directory first on the path, and take the graph out of it.

    Without an attribute it is the only graph of the module. A graph without a name gets the attribute's.

    Raises:
        Refusal: There is no such module or graph, or the module cannot be imported.
    """
    source, _, attribute = target.partition(":")
    module = _module(source, working_dir)
    found = _graphs(module)
    name = attribute or _only(target, found)
    if name not in found:
        hint = f"{did_you_mean(name, found)}{_shadow(module, working_dir)}"
        raise Refusal(f"{target}: {module.__file__ or module.__name__} has no graph {name!r}: {hint}")
    return found[name]


def load_all(source: str, working_dir: Path) -> list[Graph]:
    """All graphs of a module or file.

    Raises:
        Refusal: There is no such module, or it cannot be imported.
    """
    return list(_graphs(_module(source, working_dir)).values())


def _module(source: str, working_dir: Path) -> ModuleType:
    sys.path.insert(0, str(working_dir))
    with _one_line(source):
        return _file(working_dir / source) if source.endswith(".py") else import_module(source)


def _graphs(module: ModuleType) -> dict[str, Graph]:
    found = {name: value for name, value in vars(module).items() if isinstance(value, Graph)}
    return {name: graph if graph.name else replace(graph, name=name) for name, graph in found.items()}


def _only(target: str, found: dict[str, Graph]) -> str:
    if len(found) != 1:
        named = f"several graphs: write {target}:NAME with one of {', '.join(sorted(found))}" if found else "no graph"
        raise Refusal(f"{target}: it holds {named}")
    return next(iter(found))


def _file(path: Path) -> ModuleType:
    if not path.is_file():
        raise Refusal(f"{path}: there is no such file")
    spec = spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise Refusal(f"{path}: it is no Python file")
    module = module_from_spec(spec)
    # Dataclasses and pydantic look a class's module up by name.
    sys.modules.setdefault(path.stem, module)
    spec.loader.exec_module(module)
    return module


@contextmanager
def _one_line(target: str) -> Iterator[None]:
    try:
        yield
    except Refusal:
        raise
    except ModuleNotFoundError as error:
        raise Refusal(f"{target}: no module named {error.name!r} in the working directory or installed") from error
    except Exception as error:
        raise Refusal(f"{target}: importing it failed: {type(error).__name__}: {_place(error)}") from error


def _place(error: Exception) -> str:
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if isinstance(error, SyntaxError):
        return f"{error.msg} ({error.filename}:{error.lineno})"
    where = f" ({last.tb_frame.f_code.co_filename}:{last.tb_lineno})" if last else ""
    return f"{error}{where}".replace("\n", " ")


def _shadow(module: ModuleType, working_dir: Path) -> str:
    # This command itself is the installed package `graphs`, so a folder of that name is never imported by module name.
    own = working_dir / module.__name__
    if own.is_dir() and module.__file__ and own.resolve() not in Path(module.__file__).resolve().parents:
        return f"; for a file in {own} write its path, such as {module.__name__}/my.py:my_graph"
    return ""
