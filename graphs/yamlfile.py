"""Read a configuration file, with the line of every key.

YAML 1.2's core schema, not PyYAML's 1.1: `no` and `on` are text, `1e3` is a number, `010` is ten and `1:30` is text.
A key that is written twice is an error, since one of the two would be lost in silence.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from graphs.errors import Refusal

KeyPath = tuple[str, ...]


class _Loader(yaml.CSafeLoader):
    """SafeLoader with the scalars of YAML 1.2's core schema."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - PyYAML's own protocol.


# https://yaml.org/spec/1.2.2/#1032-tag-resolution
_CORE = (
    ("null", r"~|null|Null|NULL|", "~nN"),
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789"),
    (
        "float",
        r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
        "-+.0123456789",
    ),
)
for _tag, _pattern, _first in _CORE:
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(f"^(?:{_pattern})$"), [*_first, *([""] if _tag == "null" else [])]
    )


def _integer(loader: _Loader, node: yaml.ScalarNode) -> int:
    text = str(loader.construct_scalar(node))
    return int(text, 0) if text.lower().startswith(("0o", "0x")) else int(text, 10)


_Loader.add_constructor("tag:yaml.org,2002:int", _integer)


@dataclass(frozen=True)
class Document:
    """A file's data, and the line of each key by its path from the root."""

    name: str
    data: Mapping[str, Any]
    lines: Mapping[KeyPath, int]

    def place(self, *path: str) -> str:
        """Name the place of a key as `file:line`."""
        return f"{self.name}:{self.lines[path]}" if path in self.lines else self.name


def read(path: Path) -> Document:
    """Read a YAML file whose root is a mapping.

    Raises:
        Refusal: It cannot be read, is no YAML, or writes a key twice.
    """
    name = _shown(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise Refusal(f"{name}: cannot be read: {reason}") from error
    try:
        return _document(name, text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise Refusal(f"{name}:{line}: not YAML: {error.problem}") from error
    except yaml.YAMLError as error:
        raise Refusal(f"{name}: not YAML: {error}".replace("\n", " ")) from error


def value(text: str) -> Any:
    """Read a value from the command line: a scalar, or a mapping or list in braces; all else is the text itself."""
    try:
        read: Any = yaml.load(text, _Loader)  # noqa: S506 - the loader is a SafeLoader.
    except yaml.YAMLError:
        return text
    return text if isinstance(read, dict | list) and text.lstrip()[0] not in "{[" else read


def _document(name: str, text: str) -> Document:
    loader = _Loader(text)
    root = loader.get_single_node()
    if root is None:
        return Document(name, {}, {})
    if not isinstance(root, yaml.MappingNode):
        raise Refusal(f"{name}:{root.start_mark.line + 1}: the file must map service names to settings")
    lines = dict(_lines(name, root, ()))
    data: Any = loader.construct_document(root)
    return Document(name, data, lines)


def _lines(
    name: str, node: yaml.Node, path: KeyPath, around: frozenset[int] = frozenset()
) -> Iterator[tuple[KeyPath, int]]:
    if id(node) in around:
        raise Refusal(f"{name}:{node.start_mark.line + 1}: {'.'.join(path)} contains itself")
    around |= {id(node)}
    if isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield from _lines(name, item, (*path, str(index)), around)
    if not isinstance(node, yaml.MappingNode):
        return
    seen: dict[str, int] = {}
    for key, child in node.value:
        line = key.start_mark.line + 1
        if key.tag != "tag:yaml.org,2002:str":
            raise Refusal(f"{name}:{line}: a key must be text; put it in quotes")
        if key.value in seen:
            raise Refusal(f"{name}:{line}: {'.'.join((*path, key.value))} is already set on line {seen[key.value]}")
        seen[key.value] = line
        yield (*path, key.value), line
        yield from _lines(name, child, (*path, key.value), around)


def _shown(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_absolute() and path.is_relative_to(here) else str(path)
