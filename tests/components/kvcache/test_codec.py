from collections.abc import Iterator

import numpy as np
import pytest
import torch
from torch import Tensor

from components.kvcache.codec import decode, encode, scales
from components.kvcache.rows import BF16, FP8, FP8_DS_MLA, NVFP4_DS_MLA, ROWS, Row
from tests.components.kvcache import oracle
from tests.components.kvcache.latents import CHUNK_TOKENS, hard_latents, normal, random

VALUES = 10**7


def chunks() -> Iterator[tuple[Tensor, Tensor]]:
    for chunk in range(-(-VALUES // (CHUNK_TOKENS * 512))):
        latent = hard_latents(chunk)
        rope = normal(CHUNK_TOKENS, 64, seed=1000 + chunk) * torch.logspace(-4, 3.5, 64)
        yield latent, rope


def test_ten_million_values_are_encoded_as_the_oracle_does() -> None:
    seen, compared = set(), 0
    for latent, rope in chunks():
        rows = encode(latent, rope, NVFP4_DS_MLA).numpy()
        assert np.array_equal(rows, oracle.nvfp4_rows(latent.numpy(), rope.numpy()))
        seen |= set(rows[:, 320:].flat)
        compared += latent.numel()
    assert compared >= VALUES
    # Every scale that there is, from the floor to the largest.
    assert seen == set(range(1, 127))


def test_fp8_ds_mla_is_encoded_as_the_oracle_does() -> None:
    latent = normal(512) * torch.exp2(torch.randint(-20, 12, (512, 4, 1), generator=random(1)).float()).expand(
        512, 4, 128
    ).reshape(512, 512)
    latent[0, :128] = torch.arange(128) * 3.5  # The largest is 444.5.
    latent[1, :128] = 448.0
    latent[2, :128] = 448.1
    latent[3] = 0.0
    rope = normal(512, 64, seed=2)
    assert np.array_equal(
        encode(latent, rope, FP8_DS_MLA).numpy(), oracle.fp8_ds_mla_rows(latent.numpy(), rope.numpy())
    )


def test_the_reciprocal_is_multiplied_not_the_scale_divided() -> None:
    # 9.375 / 3.75 = 2.5 would go to code 4; 9.375 times the rounded 1 / 3.75 lies above and goes to code 5.
    latent = torch.zeros(1, 512)
    latent[0, :2] = torch.tensor([22.5, 9.375])
    assert np.float32(9.375) * (np.float32(1) / np.float32(3.75)) > np.float32(2.5)
    rows = encode(latent, torch.zeros(1, 64), NVFP4_DS_MLA)
    assert rows[0, 0] == 0x57
    assert scales(rows, NVFP4_DS_MLA)[0, 0] == 3.75


def test_hand_written_nvfp4_bytes_decode_to_the_values_of_their_groups() -> None:
    row = torch.zeros(352, dtype=torch.uint8)
    row[:256] = 0x92  # 1.0, then -0.5.
    row[256:320] = 0x40  # 2.0.
    # Scale of group 4 a + b at 320 + 8 b + a: 2^-6 times 1, 1.125 ... in the first eight, and so on.
    for group in range(32):
        row[320 + 8 * (group % 4) + group // 4] = 8 + group
    latent, rope = decode(row, NVFP4_DS_MLA)
    expected = [(8 + group % 8) * 2.0 ** (group // 8 - 9) for group in range(32)]
    assert latent[0::16].tolist() == expected
    assert latent[15::16].tolist() == [-scale / 2 for scale in expected]
    assert rope.tolist() == [2.0] * 64


def test_hand_written_fp8_ds_mla_bytes_decode_to_the_values_of_their_groups() -> None:
    row = torch.zeros(656, dtype=torch.uint8)
    row[:512] = 0x38  # 1.0.
    row[512:528] = torch.tensor(list(np.array([1, 0.5, 4, 2**-13], "<f4").tobytes()), dtype=torch.uint8)
    row[528:656:2], row[529:656:2] = 0x20, 0xC1  # -10.0 in bf16, little-endian.
    latent, rope = decode(row, FP8_DS_MLA)
    assert latent[::128].tolist() == [1.0, 0.5, 4.0, 2**-13]
    assert rope.tolist() == [-10.0] * 64


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_a_row_of_zeros_decodes_to_zeros(row: Row) -> None:
    latent, rope = decode(encode(torch.zeros(2, 3, 512), torch.zeros(2, 3, 64), row), row)
    assert latent.shape == (2, 3, 512)
    assert rope.shape == (2, 3, 64)
    assert not latent.any()
    assert not rope.any()


def test_a_nan_is_passed_over_by_the_scale_and_becomes_its_largest() -> None:
    latent = torch.ones(1, 512)
    latent[0, 3] = float("nan")
    values, _ = decode(encode(latent, torch.zeros(1, 64), NVFP4_DS_MLA), NVFP4_DS_MLA)
    assert values[0, 3] == values[0, 0] == 6 * 0.171875
    alone, _ = decode(encode(torch.full((1, 512), float("nan")), torch.zeros(1, 64), NVFP4_DS_MLA), NVFP4_DS_MLA)
    assert alone.unique().tolist() == [6 / 512]


def test_the_layer_scale_divides_latent_and_rope_of_plain_fp8() -> None:
    latent, rope = normal(4) * 1000, normal(4, 64) * 1000
    rows = encode(latent, rope, FP8, layer_scale=8.0)
    assert torch.equal(rows, encode(latent / 8, rope / 8, FP8))
    assert torch.equal(decode(rows, FP8, layer_scale=8.0)[0], decode(rows, FP8)[0] * 8)


def test_a_layer_scale_for_another_format_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^a layer scale of 2\.0 for bfloat16: only fp8_e4m3 has one$"):
        encode(normal(1), normal(1, 64), BF16, layer_scale=2.0)
    with pytest.raises(ValueError, match=r"^a layer scale of 2\.0 for nvfp4_ds_mla: only fp8_e4m3 has one$"):
        decode(torch.zeros(1, 352, dtype=torch.uint8), NVFP4_DS_MLA, layer_scale=2.0)


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_no_tokens_make_no_rows(row: Row) -> None:
    rows = encode(torch.zeros(0, 512), torch.zeros(0, 64), row)
    assert rows.shape == (0, row.row_bytes)
    assert [part.shape for part in decode(rows, row)] == [(0, 512), (0, 64)]


@pytest.mark.parametrize(
    ("row", "deviation", "error"),
    [
        (NVFP4_DS_MLA, 1.0, 0.095),
        (NVFP4_DS_MLA, 1e-3, 0.28),
        (FP8, 1.0, 0.0265),
        (FP8, 1e-3, 0.56),
        (FP8_DS_MLA, 1.0, 0.0265),
        (FP8_DS_MLA, 1e-3, 0.0265),
        (BF16, 1.0, 0.00166),
    ],
)
def test_gaussian_latents_have_the_error_that_is_documented(row: Row, deviation: float, error: float) -> None:
    latent = normal(4000, deviation=deviation)
    values, _ = decode(encode(latent, torch.zeros(4000, 64), row), row)
    assert ((values - latent).norm() / latent.norm()).item() == pytest.approx(error, rel=0.01)


@pytest.mark.parametrize(
    ("latent", "rope", "message"),
    [
        ((2, 500), (2, 64), r"^latent: the last axis has 500 entries, not 512$"),
        ((2, 512), (2, 63), r"^rope: the last axis has 63 entries, not 64$"),
        ((2, 512), (3, 64), r"^latents of shape \(2, 512\) with RoPE of shape \(3, 64\)$"),
    ],
)
def test_other_shapes_are_refused(latent: tuple[int, ...], rope: tuple[int, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        encode(torch.zeros(latent), torch.zeros(rope), NVFP4_DS_MLA)


def test_rows_of_another_format_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^nvfp4_ds_mla row: the last axis has 576 entries, not 352$"):
        decode(torch.zeros(1, 576, dtype=torch.uint8), NVFP4_DS_MLA)
    with pytest.raises(ValueError, match=r"^fp8_e4m3: its rows have no scales$"):
        scales(torch.zeros(1, 576, dtype=torch.uint8), FP8)
