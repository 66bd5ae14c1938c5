"""Where the sessions to replay come from: a file or folder that somebody names."""

import gzip
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from graphs.errors import Refusal
from router.replay.readers import read_compact, read_mooncake, read_weka
from router.replay.trace import Trace, TraceError

_FORMS = "a .jsonl or .jsonl.gz file of sessions or of Mooncake rows, a .json file of one session, or a folder of those"


def open_trace(path: Path) -> Trace:
    """Read the sessions in a file or folder; what it holds decides the form.

    A folder or a `.json` file is read as the Weka form is published, one session a file. A `.jsonl` or `.jsonl.gz` file
    holds sessions, with block ids as runs or one by one, or rows of Mooncake's form; its first line tells which.

    Args:
        path: The file or folder.

    Raises:
        Refusal: It is missing, cannot be read, or holds something else.
    """
    try:
        return _open(path)
    except TraceError as error:
        raise Refusal(f"{path}: {error}") from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise Refusal(f"{path}: {error}: it is cut or no gzip, fetch it again") from error
    except OSError as error:
        raise Refusal(f"{error.filename or path}: {error.strerror or error}: name a file or folder to read") from error


def _open(path: Path) -> Trace:
    if path.is_dir():
        files = sorted(path.glob("*.json"))
        if not files:
            raise Refusal(f"{path}: no .json file in it: name {_FORMS}")
        return read_weka(((file.name, file.read_bytes()) for file in files), path.resolve().name)
    if path.name.endswith((".jsonl", ".jsonl.gz")):
        return _read_lines(path, path.name.removesuffix(".gz").removesuffix(".jsonl"))
    if path.suffix == ".json":
        return read_weka([("the session", path.read_bytes())], path.stem)
    path.stat()
    raise Refusal(f"{path}: unknown form: name {_FORMS}")


def _read_lines(path: Path, name: str) -> Trace:
    number, first = next(_lines_of_text(_lines(path)), (0, b""))
    if not number:
        raise Refusal(f"{path}: empty: name {_FORMS}")
    try:
        fields = set(msgspec.json.decode(first, type=dict[str, msgspec.Raw]))
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Refusal(f"{path}: line {number}: {error}: each line is one JSON object, a session or a row") from error
    if "requests" in fields:
        return read_compact(_lines(path), name)
    if "hash_ids" in fields:
        return read_mooncake(_lines(path), name)
    raise Refusal(f"{path}: line {number}: neither requests, as a session has, nor hash_ids, as a row: name {_FORMS}")


def _lines(path: Path) -> Iterator[bytes]:
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        yield from file


def _lines_of_text(lines: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    return ((number, line) for number, line in enumerate(lines, 1) if line.strip())
