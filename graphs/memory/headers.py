"""A checkpoint's tensors by the headers of its safetensors files: names, formats and sizes, and none of the data.

A file begins with the length of its header, 8 bytes, little-endian; then comes the header, JSON with each tensor's
`dtype`, `shape` and `data_offsets`, and `__metadata__`; then, without a gap, what the offsets count from (safetensors
0.8, whose own reader allows a header of at most 100 MB). Where a checkpoint is cut into several files,
`model.safetensors.index.json` says which has which tensor.
"""

import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

import msgspec

from graphs.errors import Refusal

_INDEX: Final = "model.safetensors.index.json"
_LENGTH_BYTES: Final = 8
_MOST_HEADER_BYTES: Final = 100_000_000
_OF: Final = re.compile(r"-(\d+)-of-(\d+)\.safetensors$")
_BITS: Final[Mapping[str, int]] = MappingProxyType(
    {"F64": 64, "I64": 64, "F32": 32, "I32": 32, "BF16": 16, "F16": 16, "F8_E4M3": 8, "F8_E8M0": 8, "U8": 8, "F4": 4}
)


class Tensor(msgspec.Struct, frozen=True):
    """One tensor.

    Attributes:
        name: As the checkpoint has it.
        dtype: As safetensors writes it: `BF16`, `F8_E4M3`, `U8`.
        values: How many of that type; a packed `U8` holds two parameters in each.
        size_bytes: In the file.
    """

    name: str
    dtype: str
    values: int
    size_bytes: int


class Tensors(msgspec.Struct, frozen=True):
    """All tensors of a checkpoint.

    Attributes:
        files: How many files they are in.
        tensors: In the files' order.
    """

    files: int
    tensors: tuple[Tensor, ...]


class _Entry(msgspec.Struct):
    dtype: str = ""
    shape: tuple[int, ...] = ()
    data_offsets: tuple[int, int] = (0, 0)


class _Index(msgspec.Struct):
    weight_map: dict[str, str]


def read(folder: Path) -> Tensors | None:
    """Read the headers of a checkpoint's safetensors files; None where the folder has no such file.

    Raises:
        Refusal: A file is missing, cut, or none of safetensors.
    """
    wanted = _wanted(folder)
    if not wanted:
        return None
    found = tuple(tensor for name, only in wanted.items() for tensor in _file(folder / name, only))
    if len({tensor.name for tensor in found}) < len(found):
        raise Refusal(f"--model {folder}: a tensor is in two of its files: leave one checkpoint in the folder")
    return Tensors(len(wanted), found)


def _wanted(folder: Path) -> Mapping[str, set[str] | None]:
    """The files to read, each with the tensors that it should have; None where nobody says."""
    index = folder / _INDEX
    if not index.exists():
        names = sorted(path.name for path in folder.glob("*.safetensors"))
        _check_complete(folder, names)
        return dict.fromkeys(names)
    try:
        placed = msgspec.json.decode(index.read_bytes(), type=_Index).weight_map
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Refusal(f"--model {index}: {error}: fetch it again") from error
    found: dict[str, set[str]] = {}
    for tensor, name in placed.items():
        found.setdefault(name, set()).add(tensor)
    if elsewhere := [name for name in found if Path(name).name != name]:
        tensor, name = min(found[elsewhere[0]]), elsewhere[0]
        raise Refusal(f"--model {index}: {tensor} is in {name!r}, and the files of a checkpoint lie beside it")
    missing = [name for name in found if not (folder / name).exists()]
    if missing:
        raise Refusal(f"--model {folder}: {len(missing)} of {len(found)} files are missing, such as {missing[0]}")
    return {**found}


def _check_complete(folder: Path, names: list[str]) -> None:
    numbered = [match for name in names if (match := _OF.search(name))]
    for number in range(1, int(numbered[0][2]) + 1) if numbered else ():
        if not any(int(match[1]) == number for match in numbered):
            raise Refusal(f"--model {folder}: file {number} of {int(numbered[0][2])} is missing, and so is {_INDEX}")


def _file(path: Path, only: set[str] | None) -> Iterator[Tensor]:
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(0)
            length = int.from_bytes(file.read(_LENGTH_BYTES), "little")
            if size < _LENGTH_BYTES or length > min(_MOST_HEADER_BYTES, size - _LENGTH_BYTES):
                raise Refusal(f"--model {path}: its {size:,} bytes hold no safetensors header: fetch it again")
            header = file.read(length)
    except OSError as error:
        raise Refusal(f"--model {path}: {error.strerror}") from error
    try:
        entries = msgspec.json.decode(header, type=dict[str, _Entry])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Refusal(f"--model {path}: its safetensors header: {error}: fetch it again") from error
    entries.pop("__metadata__", None)
    _check(path, entries, size - _LENGTH_BYTES - length)
    if only is not None and (lost := sorted(only - entries.keys())):
        raise Refusal(f"--model {path}: lacks {lost[0]}, which {_INDEX} says it has: fetch both again")
    for name, entry in entries.items():
        begin, end = entry.data_offsets
        yield Tensor(name, entry.dtype, math.prod(entry.shape), end - begin)


def _check(path: Path, entries: Mapping[str, _Entry], data_bytes: int) -> None:
    reached = 0
    for name, entry in sorted(entries.items(), key=lambda each: each[1].data_offsets):
        begin, end = entry.data_offsets
        bits = _BITS.get(entry.dtype)
        wrong = bits is not None and math.prod(entry.shape) * bits != (end - begin) * 8
        if begin != reached or end < begin or wrong:
            raise Refusal(f"--model {path}: {name} has a wrong size or place in its safetensors header: fetch it again")
        reached = end
    if reached != data_bytes:
        what = "cut" if reached > data_bytes else "too long"
        raise Refusal(f"--model {path}: {what}: {data_bytes:,} bytes of tensors, and its header says {reached:,}")
