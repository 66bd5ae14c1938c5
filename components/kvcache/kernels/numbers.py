"""The small number formats on chip: three ways to unpack e2m1, two to write it, and e4m3.

A row's values come out as fp16. That is exact: a latent value is a multiple of 2^-10 of at most six significant bits,
2,688 at most, and a RoPE value a multiple of 2^-9 of four bits, 448 at most, so both fit fp16's eleven bits and its
range. bf16 would hold them as well, but the probabilities that they meet lose more in its eight bits.
"""

import triton
import triton.language as tl

PORTABLE = tl.constexpr(0)
"""Integer and float operations of Triton alone: the one that its interpreter can run."""

INTEGER = tl.constexpr(1)
"""PTX that moves the bits of four bytes at once to where e4m3 has them, whose conversion compute capability 8.9 and 9.0
have."""

HARDWARE = tl.constexpr(2)
"""PTX's own conversions of e2m1: compute capability 10.x and 12.x (PTX ISA 8.6)."""

_E2M1_WITHIN_E4M3 = tl.constexpr(2.0**6)
"""What the value of e2m1's bits is, of what they mean where e4m3 has its own: its exponent counts from 2^-7, e2m1's
from 2^-1. A scale times that, 28,672 at most, is within fp16's range, so it costs nothing."""

UNPACK_INTEGER = tl.constexpr("""{
    .reg .b32 sign, size, even, odd;
    .reg .b16 low, high;
    shl.b32 sign, $4, 4;
    and.b32 sign, sign, 0x80808080;
    shl.b32 size, $4, 2;
    and.b32 size, size, 0x1C1C1C1C;
    or.b32 even, sign, size;
    and.b32 sign, $4, 0x80808080;
    shr.u32 size, $4, 2;
    and.b32 size, size, 0x1C1C1C1C;
    or.b32 odd, sign, size;
    mov.b32 {low, high}, even;
    cvt.rn.f16x2.e4m3x2 $0, low;
    cvt.rn.f16x2.e4m3x2 $1, high;
    mov.b32 {low, high}, odd;
    cvt.rn.f16x2.e4m3x2 $2, low;
    cvt.rn.f16x2.e4m3x2 $3, high;
    mul.rn.f16x2 $0, $0, $5;
    mul.rn.f16x2 $1, $1, $6;
    mul.rn.f16x2 $2, $2, $5;
    mul.rn.f16x2 $3, $3, $6;
}""")
"""Four bytes (`$4`) times four factors (`$5`, `$6`): low nibbles to `$0` and `$1`, high ones to `$2` and `$3`."""

UNPACK_HARDWARE = tl.constexpr("""{
    .reg .b8 b0, b1, b2, b3;
    .reg .b32 p0, p1, p2, p3;
    mov.b32 {b0, b1, b2, b3}, $4;
    cvt.rn.f16x2.e2m1x2 p0, b0;
    cvt.rn.f16x2.e2m1x2 p1, b1;
    cvt.rn.f16x2.e2m1x2 p2, b2;
    cvt.rn.f16x2.e2m1x2 p3, b3;
    prmt.b32 $0, p0, p1, 0x5410;
    prmt.b32 $1, p2, p3, 0x5410;
    prmt.b32 $2, p0, p1, 0x7632;
    prmt.b32 $3, p2, p3, 0x7632;
    mul.rn.f16x2 $0, $0, $5;
    mul.rn.f16x2 $1, $1, $6;
    mul.rn.f16x2 $2, $2, $5;
    mul.rn.f16x2 $3, $3, $6;
}""")
"""The same by conversion."""

PACK_HARDWARE = tl.constexpr("""{
    .reg .b8 pair;
    .reg .b32 word;
    cvt.rn.satfinite.e2m1x2.f32 pair, $2, $1;
    mov.b32 word, {pair, pair, pair, pair};
    and.b32 $0, word, 0xFF;
}""")
"""Two float32 to a byte: `$1` to its low nibble, `$2` to its high one."""


@triton.jit
def unpack_latent(packed: tl.tensor, scales: tl.tensor, rows: tl.constexpr, conversions: tl.constexpr) -> tl.tuple:
    """Return the even and the odd latent values, fp16 `[rows, 256]` each.

    Args:
        packed: `[rows, 256]` uint8.
        scales: `[rows, 32]` uint8 in the order of the row.
        rows: How many.
        conversions: One of the ways above.
    """
    # The scale of block 4c + a is byte 8a + c: back to the order of blocks, then one for each 8 bytes.
    block = tl.reshape(tl.permute(tl.reshape(scales, (rows, 4, 8)), (0, 2, 1)), (rows, 32))
    factor = from_e4m3(block)
    if conversions != HARDWARE:
        factor *= tl.full((), _E2M1_WITHIN_E4M3, tl.float16)
    factor = tl.reshape(tl.broadcast_to(factor[:, :, None], (rows, 32, 8)), (rows, 256))
    if conversions == PORTABLE:
        return _from_e2m1(packed & 15) * factor, _from_e2m1(packed >> 4) * factor
    asm: tl.constexpr = UNPACK_HARDWARE if conversions == HARDWARE else UNPACK_INTEGER
    even, odd = tl.inline_asm_elementwise(
        asm, "=&r,=&r,=&r,=&r,r,r,r", [packed, factor], dtype=(tl.float16, tl.float16), is_pure=True, pack=4
    )
    return even, odd


@triton.jit
def from_e4m3(octets: tl.tensor) -> tl.tensor:
    """Return the values of uint8 e4m3, fp16."""
    return octets.to(tl.float8e4nv, bitcast=True).to(tl.float16)


@triton.jit
def _from_e2m1(codes: tl.tensor) -> tl.tensor:
    """Return the values of uint8 codes 0 to 15, fp16, 2^-6 of what they are."""
    return from_e4m3(((codes & 8) << 4) | ((codes & 7) << 2))


@triton.jit
def to_e4m3(values: tl.tensor, conversions: tl.constexpr) -> tl.tensor:
    """Return the bytes of float32 values as e4m3, rounded to nearest, ties to even, saturating; NaN is 0x7F."""
    if conversions != PORTABLE:
        return values.to(tl.float8e4nv).to(tl.uint8, bitcast=True)
    bits = values.to(tl.int32, bitcast=True)
    size = tl.minimum(tl.abs(values), 448.0)
    size_bits = size.to(tl.int32, bitcast=True)
    # 20 of float32's 23 bits go, and the exponent counts from -7 instead of -127.
    normal = ((size_bits + 0x7FFFF + ((size_bits >> 20) & 1)) >> 20) - (120 << 3)
    # Next to 2^14 float32 has steps of 2^-9, as e4m3 below 2^-6: the addition rounds.
    denormal = (size + 16384.0).to(tl.int32, bitcast=True) - 0x46800000
    code = tl.where(size < 0.015625, denormal, normal) | ((bits >> 24) & 0x80)
    return tl.where(values != values, 0x7F, code).to(tl.uint8)


@triton.jit
def to_e2m1(even: tl.tensor, odd: tl.tensor, conversions: tl.constexpr) -> tl.tensor:
    """Return pairs of float32 values as bytes of e2m1, rounded to nearest, ties to even, saturating; NaN is 6."""
    if conversions == HARDWARE:
        return tl.inline_asm_elementwise(PACK_HARDWARE, "=r,f,f", [even, odd], dtype=tl.int32, is_pure=True, pack=1).to(
            tl.uint8
        )
    return (_e2m1_code(even) | (_e2m1_code(odd) << 4)).to(tl.uint8)


@triton.jit
def _e2m1_code(values: tl.tensor) -> tl.tensor:
    size = tl.abs(values)
    # A middle between two codes belongs to the even one.
    code = (size > 0.25).to(tl.int32) + (size >= 0.75).to(tl.int32) + (size > 1.25).to(tl.int32)
    code += (size >= 1.75).to(tl.int32) + (size > 2.5).to(tl.int32) + (size >= 3.5).to(tl.int32)
    code += (size > 5.0).to(tl.int32)
    code |= (values.to(tl.int32, bitcast=True) >> 28) & 8
    return tl.where(values != values, 7, code)
