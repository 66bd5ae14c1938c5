"""Runs the few instructions of PTX that the kernels have inline, on numpy arrays: no GPU is at hand to run them.

Semantics are those of the PTX ISA 9.0. Registers are arrays of uint64, of which the low bits count.
"""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from tests.components.kvcache import oracle

Words: TypeAlias = npt.NDArray[np.uint64]


def run(text: str, operands: dict[str, Words]) -> dict[str, Words]:
    """Run a block from `{` to `}` with `$n` set; every register as it is left."""
    registers = dict(operands)
    for line in text.strip().removeprefix("{").removesuffix("}").split(";"):
        opcode, _, rest = line.strip().partition(" ")
        if opcode and opcode != ".reg":
            _step(opcode, [part.strip() for part in re.findall(r"\{[^}]*\}|[^,]+", rest)], registers)
    return registers


def _step(opcode: str, names: list[str], registers: dict[str, Words]) -> None:
    target, *sources = names
    if opcode == "mov.b32" and target.startswith("{"):
        names = target.strip("{}").split(",")
        bits = 32 // len(names)
        for index, name in enumerate(names):
            registers[name.strip()] = registers[sources[0]] >> np.uint64(bits * index) & np.uint64(2**bits - 1)
        return
    if opcode == "mov.b32":
        octets = [registers[name.strip()] for name in sources[0].strip("{}").split(",")]
        registers[target] = joined(octets)
        return
    values = [registers[name] if name in registers else np.array(int(name, 0), np.uint64) for name in sources]
    registers[target] = _INSTRUCTIONS[opcode](*values) & np.uint64(0xFFFFFFFF)


def joined(octets: Sequence[Words]) -> Words:
    """Words of which the first byte is the lowest."""
    word = np.zeros_like(octets[0])
    for index, octet in enumerate(octets):
        word |= octet << np.uint64(8 * index)
    return word


def _multiply(first: Words, second: Words) -> Words:
    return _halves(*(_half(first, at) * _half(second, at) for at in (0, 16)))


def _from_e2m1(pair: Words) -> Words:
    table = np.concatenate([oracle.E2M1, -oracle.E2M1]).astype(np.float16)
    return _halves(table[pair & np.uint64(15)], table[pair >> np.uint64(4)])


def _from_e4m3(pair: Words) -> Words:
    table = np.concatenate([oracle.E4M3, [np.nan], -oracle.E4M3, [np.nan]]).astype(np.float16)
    return _halves(table[pair & np.uint64(0xFF)], table[pair >> np.uint64(8)])


def _to_e2m1(high: Words, low: Words) -> Words:
    codes = [oracle.e2m1(value.astype(np.uint32).view(np.float32)).astype(np.uint64) for value in (low, high)]
    return codes[0] | codes[1] << np.uint64(4)


def _permute(low: Words, high: Words, selector: Words) -> Words:
    # Bit 3 of a selector would copy the sign: nothing here asks for that.
    octets = low | high << np.uint64(32)
    result = np.zeros_like(octets)
    for index in range(4):
        chosen = int(selector) >> 4 * index & 0xF
        assert chosen < 8
        result |= (octets >> np.uint64(8 * chosen) & np.uint64(0xFF)) << np.uint64(8 * index)
    return result


def _half(word: Words, at: int) -> npt.NDArray[np.float16]:
    return (word >> np.uint64(at)).astype(np.uint16).view(np.float16)


def _halves(low: npt.NDArray[np.float16], high: npt.NDArray[np.float16]) -> Words:
    return low.view(np.uint16).astype(np.uint64) | high.view(np.uint16).astype(np.uint64) << np.uint64(16)


_INSTRUCTIONS: Final[Mapping[str, Callable[..., Words]]] = {
    "and.b32": operator.and_,
    "or.b32": operator.or_,
    "shl.b32": operator.lshift,
    "shr.u32": operator.rshift,
    "prmt.b32": _permute,
    "mul.rn.f16x2": _multiply,
    "cvt.rn.f16x2.e2m1x2": _from_e2m1,
    "cvt.rn.f16x2.e4m3x2": _from_e4m3,
    "cvt.rn.satfinite.e2m1x2.f32": _to_e2m1,
}
