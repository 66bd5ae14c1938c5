"""The kernels' inline PTX, run on every byte by the instructions' definitions."""

import numpy as np
import pytest

from components.kvcache.kernels import numbers
from tests.components.kvcache import oracle, ptx

BYTES = np.arange(256, dtype=np.uint64)
VALUES = np.concatenate([oracle.E2M1, -oracle.E2M1])


def halves(word: ptx.Words) -> list[np.ndarray]:
    return [(word >> np.uint64(at)).astype(np.uint16).view(np.float16).astype(np.float64) for at in (0, 16)]


@pytest.mark.parametrize(
    ("text", "shift"), [(numbers.UNPACK_INTEGER.value, 2.0**-6), (numbers.UNPACK_HARDWARE.value, 1.0)]
)
@pytest.mark.parametrize("scale", [2.0**-9, 1.0, 448.0])
def test_four_bytes_become_even_and_odd_values_times_their_factors(text: str, shift: float, scale: float) -> None:
    factor = scale / shift
    # The bytes of a word differ, and so do its factors: none may stand in for another.
    octets = [(BYTES * np.uint64(odd) + np.uint64(odd)) & np.uint64(255) for odd in (1, 3, 5, 7)]
    factors = [factor, factor / 2, factor * 0.75, factor / 4]
    bits = [np.full(256, np.float16(value).view(np.uint16), np.uint64) for value in factors]
    word = ptx.joined(octets)
    low, high = (bits[at] | bits[at + 1] << np.uint64(16) for at in (0, 2))
    registers = ptx.run(text, {"$4": word, "$5": low, "$6": high})
    even = [*halves(registers["$0"]), *halves(registers["$1"])]
    odd = [*halves(registers["$2"]), *halves(registers["$3"])]
    for index in range(4):
        assert np.array_equal(even[index], VALUES[octets[index] & np.uint64(15)] * shift * factors[index])
        assert np.array_equal(odd[index], VALUES[octets[index] >> np.uint64(4)] * shift * factors[index])


def test_the_conversion_to_a_byte_has_the_even_value_in_the_low_nibble() -> None:
    even, odd = np.meshgrid(VALUES.astype(np.float32), VALUES.astype(np.float32))
    operands = {
        "$1": even.ravel().view(np.uint32).astype(np.uint64),
        "$2": odd.ravel().view(np.uint32).astype(np.uint64),
    }
    packed = ptx.run(numbers.PACK_HARDWARE.value, operands)["$0"]
    assert np.array_equal(packed, BYTES)


@pytest.mark.parametrize("code", range(1, 127))
def test_every_product_of_a_value_and_a_scale_is_exact_in_fp16_and_in_bf16(code: int) -> None:
    products = VALUES * oracle.E4M3[code]
    assert np.array_equal(products.astype(np.float16).astype(np.float64), products)
    # bf16 has float32's exponent and 8 bits: the low 16 of float32 are zero.
    assert not (products.astype(np.float32).view(np.uint32) & 0xFFFF).any()
