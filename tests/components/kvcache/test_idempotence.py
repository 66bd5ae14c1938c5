"""What encoding a decoded row again gives: the same row but for one kind of group, and after a second time always."""

import pytest
import torch
from torch import Tensor

from components.kvcache.codec import decode, encode, scales
from components.kvcache.numbers import E2M1_VALUES
from components.kvcache.rows import BF16, FP8, FP8_DS_MLA, NVFP4_DS_MLA, Row
from tests.components.kvcache.latents import hard_latents, normal

# A scale of 2 / 512 whose largest value is stored as 4 / 6 of it: encoded again, 8 / 512 has the scale 1 / 512.
UNSTABLE = (9 / 512, 10 / 512)


def again(rows: Tensor, row: Row = NVFP4_DS_MLA) -> Tensor:
    return encode(*decode(rows, row), row)


def test_the_largest_code_is_six_but_at_the_two_least_scales() -> None:
    # Every largest value that matters: each scale's whole range, both ends with their neighbours among floats.
    sizes = torch.exp2(torch.linspace(-14, 12, 2_000_000))
    middles = torch.arange(1, 2**13) / 2**11
    edges = torch.cat(
        [middles, torch.nextafter(middles, torch.tensor(0.0)), torch.nextafter(middles, torch.tensor(9.0))]
    )
    amax = torch.cat([sizes, edges, torch.tensor(UNSTABLE)])
    latent = amax.repeat_interleave(16)
    latent = torch.nn.functional.pad(latent, (0, -len(latent) % 512)).view(-1, 512)
    rows = encode(latent, torch.zeros(len(latent), 64), NVFP4_DS_MLA)
    largest = (rows[:, :256].view(-1, 32, 8) & 7).amax(-1)
    least = scales(rows, NVFP4_DS_MLA) * 512
    assert {
        (scale, code)
        for scale, code in zip(least.flatten().tolist(), largest.flatten().tolist(), strict=True)
        if code < 7
    } == {
        *((1.0, code) for code in range(7)),
        (2.0, 6),
    }


def groups_of_every_scale(values: Tensor) -> Tensor:
    """Latents of 126 groups, each of the 16 values times one of the scales, from 2^-9 to 448, and two of zeros."""
    octets = torch.arange(1, 127, dtype=torch.uint8)
    groups = octets.view(torch.float8_e4m3fn).float()[:, None] * values
    return torch.cat([groups, torch.zeros(2, 16)]).view(-1, 512)


def test_where_six_is_stored_every_scale_and_every_code_is_found_again() -> None:
    latent = groups_of_every_scale(torch.tensor([*E2M1_VALUES, *(-value for value in E2M1_VALUES)]))
    rows = encode(latent, torch.zeros(len(latent), 64), NVFP4_DS_MLA)
    octets = scales(rows, NVFP4_DS_MLA).to(torch.float8_e4m3fn).view(torch.uint8).flatten()
    assert octets.tolist() == [*range(1, 127), 1, 1]
    assert rows[:, :256].reshape(-1, 8)[:126].tolist() == [[0x10, 0x32, 0x54, 0x76, 0x98, 0xBA, 0xDC, 0xFE]] * 126


@pytest.mark.parametrize("code", range(7))
def test_where_less_is_stored_no_scale_but_the_least_is_found_again(code: int) -> None:
    latent = groups_of_every_scale(torch.full((16,), E2M1_VALUES[code]))
    found = scales(encode(latent, torch.zeros(len(latent), 64), NVFP4_DS_MLA), NVFP4_DS_MLA).flatten()[:126]
    octets = found.to(torch.float8_e4m3fn).view(torch.uint8)
    assert (octets == torch.arange(1, 127)).tolist() == [True, *[False] * 125]


def test_a_group_keeps_its_row_unless_its_largest_value_is_nine_to_ten_512ths() -> None:
    changed = kept = 0
    for seed in range(4):
        latent = hard_latents(seed)
        latent[:200] = normal(200, deviation=0.008, seed=seed)
        rows = encode(latent, torch.zeros(len(latent), 64), NVFP4_DS_MLA)
        same = (again(rows) == rows)[:, :256].view(-1, 32, 8).all(-1)
        # A NaN is stored as six and so settles its group.
        amax = latent.view(-1, 32, 16).abs().nan_to_num(1e30, posinf=1e30).amax(-1)
        unstable = (amax >= UNSTABLE[0]) & (amax <= UNSTABLE[1])
        assert torch.equal(same, ~unstable)
        changed, kept = changed + int(unstable.sum()), kept + int(same.sum())
    assert changed > 100
    assert kept > 100_000


def test_both_ends_of_the_range_change_and_their_neighbours_do_not() -> None:
    ends = torch.tensor(UNSTABLE)
    outside = torch.stack([torch.nextafter(ends[0], torch.tensor(0.0)), torch.nextafter(ends[1], torch.tensor(1.0))])
    latent = torch.cat([ends, outside])[:, None].expand(4, 512)
    rows = encode(latent, torch.zeros(4, 64), NVFP4_DS_MLA)
    first, second = (decode(each, NVFP4_DS_MLA)[0][:, 0].mul(512).tolist() for each in (rows, again(rows)))
    assert first == [8.0, 8.0, 6.0, 12.0]
    assert second == [6.0, 6.0, 6.0, 12.0]


def test_a_third_encoding_changes_nothing() -> None:
    for seed in range(4):
        latent = hard_latents(seed)
        latent[:1000] = normal(1000, deviation=0.008, seed=seed)
        second = again(encode(latent, normal(len(latent), 64), NVFP4_DS_MLA))
        assert torch.equal(again(second), second)


@pytest.mark.parametrize("row", [BF16, FP8], ids=["bf16", "fp8"])
def test_rows_without_scales_are_kept(row: Row) -> None:
    rows = encode(normal(1000), normal(1000, 64), row)
    assert torch.equal(again(rows, row), rows)


def test_fp8_ds_mla_keeps_its_values_though_a_scale_may_halve() -> None:
    rows = encode(normal(4000), normal(4000, 64), FP8_DS_MLA)
    second = again(rows, FP8_DS_MLA)
    assert not torch.equal(second, rows)
    assert all(torch.equal(*each) for each in zip(decode(second, FP8_DS_MLA), decode(rows, FP8_DS_MLA), strict=True))
