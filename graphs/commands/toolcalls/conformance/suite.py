"""Where the suite is, and what is in it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

import toolcall
from graphs.commands.toolcalls.tag import Request
from graphs.errors import Refusal
from toolcall.conformance import Case

_TAGS: Final = "tags.jsonl"
_SCHEMAS: Final = "schemas.jsonl"

_Line = TypeVar("_Line", bound=msgspec.Struct)


class TagCase(Request, kw_only=True):
    """A request, and a text that its tag must accept or refuse."""

    id: str
    text: str
    accepted: bool
    kind: str = ""
    why: str = ""
    source: str = ""


class SchemaCase(msgspec.Struct, frozen=True):
    """A tool as agents send it, with argument objects that its schema admits and such as it does not.

    Attributes:
        wire_ambiguous: Indexes of `invalid` objects that cannot be told from valid ones once they are written.
    """

    id: str
    tool: dict[str, Any]
    valid: tuple[dict[str, Any], ...]
    invalid: tuple[dict[str, Any], ...]
    wire_ambiguous: tuple[int, ...] = ()


@dataclass(frozen=True)
class Suite:
    """What a folder of the suite holds: outputs to be read, texts for tags, and schemas."""

    folder: Path
    cases: tuple[Case, ...]
    tags: tuple[TagCase, ...]
    schemas: tuple[SchemaCase, ...]


def published() -> Path:
    """Return the folder of the published suite: a wheel's own copy, else that of the checkout."""
    package = Path(toolcall.__file__).parent
    shipped = package / "suite"
    return shipped if shipped.is_dir() else package.parent / "tests" / "conformance" / "data"


def load(folder: Path) -> Suite:
    """Read a folder: `tags.jsonl`, `schemas.jsonl`, and outputs in every other `.jsonl` file.

    Raises:
        Refusal: It holds no cases, a line is none, or two cases share an id.
    """
    outputs = sorted(path for path in folder.glob("*.jsonl") if path.name not in {_TAGS, _SCHEMAS})
    cases = tuple(case for path in outputs for case in _read(path, Case))
    if not cases:
        raise Refusal(f"--suite {folder}: there is no .jsonl file of cases in it")
    suite = Suite(folder, cases, _read(folder / _TAGS, TagCase), _read(folder / _SCHEMAS, SchemaCase))
    for named in (suite.cases, suite.tags, suite.schemas):
        _check_ids(folder, [each.id for each in named])
    return suite


def _read(path: Path, kind: type[_Line]) -> tuple[_Line, ...]:
    if not path.exists():
        return ()
    lines = []
    # At line feeds only, since values hold other separators.
    for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
        try:
            if line.strip():
                lines.append(msgspec.json.decode(line, type=kind))
        except msgspec.DecodeError as error:
            raise Refusal(f"{path}, line {number}: {error}") from error
    return tuple(lines)


def _check_ids(folder: Path, ids: Sequence[str]) -> None:
    for name, count in Counter(ids).items():
        if count > 1 or not name:
            raise Refusal(f"--suite {folder}: {count} cases have the id {name!r}; each needs one of its own")
