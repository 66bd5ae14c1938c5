from fractions import Fraction

import numpy as np
import pytest
import torch

from components.kvcache.numbers import E2M1_VALUES, from_e4m3, pack_e2m1, to_e2m1, to_e4m3, unpack_e2m1
from tests.components.kvcache import oracle

EVERY_BF16 = torch.arange(2**16, dtype=torch.int32).to(torch.uint16).view(torch.bfloat16).float()


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (0.25, 0),
        (0.75, 2),
        (1.25, 2),
        (1.75, 4),
        (2.5, 4),
        (3.5, 6),
        (5.0, 6),
        (0.25000003, 1),
        (5.0000005, 7),
        (-5.0, 14),
        (7.0, 7),
        (-1e30, 15),
        (float("inf"), 7),
        (float("-inf"), 15),
        (0.0, 0),
        (-0.0, 8),
        (-0.2, 8),
        (1e-45, 0),
        (float("nan"), 7),
        (-float("nan"), 7),
    ],
)
def test_e2m1_rounds_to_the_even_code_saturates_and_takes_nan_for_the_largest(value: float, code: int) -> None:
    assert to_e2m1(torch.tensor([value])).tolist() == [code]


def test_e2m1_is_the_nearest_value_by_exact_fractions() -> None:
    table = [Fraction(value) for value in (0, 0.5, 1, 1.5, 2, 3, 4, 6)]
    middles = torch.tensor([0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0])
    up, down = torch.nextafter(middles, torch.tensor(9.0)), torch.nextafter(middles, torch.tensor(0.0))
    values = torch.cat([middles, up, down, torch.rand(3000, generator=torch.Generator().manual_seed(0)) * 8])
    for value, code in zip(values.tolist(), to_e2m1(values).tolist(), strict=True):
        far = [abs(Fraction(value) - each) for each in table]
        best = [each for each in range(8) if far[each] == min(far)]
        assert code == (best[0] if len(best) == 1 else next(each for each in best if each % 2 == 0)), value


def test_every_bf16_value_becomes_the_oracles_codes() -> None:
    assert np.array_equal(to_e2m1(EVERY_BF16).numpy(), oracle.e2m1(EVERY_BF16.numpy()))
    assert np.array_equal(to_e4m3(EVERY_BF16).numpy(), oracle.e4m3(EVERY_BF16.numpy()))


def test_middles_of_e4m3_go_to_the_even_code() -> None:
    middles = torch.tensor((oracle.E4M3[1:] + oracle.E4M3[:-1]) / 2, dtype=torch.float32)
    assert to_e4m3(middles).tolist() == [code + code % 2 for code in range(126)]


def test_e4m3_saturates_and_keeps_nan() -> None:
    values = torch.tensor([464.0, 1e9, float("inf"), float("-inf"), float("nan"), -float("nan")])
    assert to_e4m3(values).tolist() == [0x7E, 0x7E, 0x7E, 0xFE, 0x7F, 0x7F]


def test_bytes_of_e4m3_mean_what_the_format_says() -> None:
    octets = torch.arange(127, dtype=torch.uint8)
    assert np.array_equal(from_e4m3(octets).numpy(), oracle.E4M3.astype(np.float32))
    assert np.array_equal(from_e4m3(octets + 128).numpy(), -oracle.E4M3.astype(np.float32))


def test_the_even_element_is_in_the_low_nibble() -> None:
    packed = pack_e2m1(torch.tensor([1, 2, 15, 0], dtype=torch.uint8))
    assert packed.tolist() == [0x21, 0x0F]
    assert unpack_e2m1(packed).tolist() == [0.5, 1.0, -6.0, 0.0]


def test_every_byte_unpacks_to_its_two_values() -> None:
    octets = torch.arange(256, dtype=torch.uint8)
    signed = [*E2M1_VALUES, *(-value for value in E2M1_VALUES)]
    assert unpack_e2m1(octets[:, None]).tolist() == [[signed[octet % 16], signed[octet // 16]] for octet in range(256)]
