import pytest

from components.kvcache.rows import (
    BF16,
    FP8,
    FP8_DS_MLA,
    GLM_5,
    GLM_5_1,
    GLM_5_2,
    GLM_5_3,
    INDEXER_ROW_BYTES,
    NVFP4_DS_MLA,
    ROWS,
    Row,
    indexer_offsets_bytes,
    token_bytes,
)


@pytest.mark.parametrize(("row", "size"), [(NVFP4_DS_MLA, 352), (FP8, 576), (FP8_DS_MLA, 656), (BF16, 1152)])
def test_a_row_has_the_published_size(row: Row, size: int) -> None:
    assert row.row_bytes == size
    assert ROWS[row.cache_dtype] is row


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_parts_fill_the_row_without_gap_or_overlap(row: Row) -> None:
    parts = sorted((row.latent, row.rope, *([row.scales] if row.scales else [])), key=lambda part: part.offset_bytes)
    assert [part.offset_bytes for part in parts] == [0, *(part.end_bytes for part in parts[:-1])]
    assert parts[-1].end_bytes == row.row_bytes


def test_the_nvfp4_row_is_latent_then_rope_then_scales() -> None:
    row = NVFP4_DS_MLA
    assert row.scales is not None
    assert (row.latent.offset_bytes, row.rope.offset_bytes, row.scales.offset_bytes) == (0, 256, 320)
    assert row.scale_values == 16


def test_the_nvfp4_scales_are_transposed_eight_by_four() -> None:
    offsets = NVFP4_DS_MLA.scale_offsets_bytes
    assert offsets == tuple(320 + 8 * (block & 3) + (block >> 2) for block in range(32))
    assert sorted(offsets) == list(range(320, 352))
    # The eight scales of one thread: every fourth group of latent values.
    assert [offsets[block] for block in range(1, 32, 4)] == list(range(328, 336))


def test_the_fp8_ds_mla_row_has_its_scales_between_latent_and_rope() -> None:
    row = FP8_DS_MLA
    assert row.scales is not None
    assert (row.latent.end_bytes, row.scales.end_bytes, row.rope.end_bytes) == (512, 528, 656)
    assert row.scale_offsets_bytes == (512, 516, 520, 524)
    assert row.scale_values == 128


def test_rows_without_inline_scales_have_none() -> None:
    assert (FP8.scale_values, FP8.scales_bytes) == (BF16.scale_values, BF16.scales_bytes) == (0, 0)


def test_a_page_of_indexer_keys_has_its_scales_at_the_end() -> None:
    assert [indexer_offsets_bytes(token, 64) for token in (0, 1, 63)] == [(0, 8192), (128, 8196), (8064, 8444)]
    assert 64 * INDEXER_ROW_BYTES == 8444 + 4


def test_glm_5_3_has_an_indexer_on_21_of_78_layers() -> None:
    assert GLM_5_3.indexer_layers == (0, 1, 2, *range(6, 75, 4))
    assert len(GLM_5_3.indexer_layers) == 21
    assert GLM_5_2.indexer_layers == GLM_5_3.indexer_layers


def test_earlier_models_have_an_indexer_on_every_layer() -> None:
    assert GLM_5.indexer_layers == GLM_5_1.indexer_layers == tuple(range(78))


@pytest.mark.parametrize(
    ("row", "token"), [(FP8, 48_408), (FP8_DS_MLA, 54_728), (NVFP4_DS_MLA, 30_712), (BF16, 78 * 1152 + 21 * 132 + 1284)]
)
def test_a_token_of_glm_5_3_keeps_the_published_bytes(row: Row, token: int) -> None:
    assert token_bytes(GLM_5_3, row).all_bytes == token


def test_a_token_is_told_by_part() -> None:
    parts = token_bytes(GLM_5_3, NVFP4_DS_MLA)
    assert (parts.latent_bytes, parts.rope_bytes, parts.scales_bytes) == (78 * 256, 78 * 64, 78 * 32)
    assert (parts.indexer_bytes, parts.mtp_bytes) == (21 * 132, 484)
    assert token_bytes(GLM_5_3, FP8_DS_MLA).mtp_bytes == 788
    assert token_bytes(GLM_5, NVFP4_DS_MLA).indexer_bytes == 78 * 132


@pytest.mark.parametrize(("row", "gib"), [(FP8, 47.3), (FP8_DS_MLA, 53.4), (NVFP4_DS_MLA, 30.0)])
def test_a_million_tokens_take_the_published_gibibytes(row: Row, gib: float) -> None:
    assert round(2**20 * token_bytes(GLM_5_3, row).all_bytes / 2**30, 1) == gib


def test_a_quarter_of_a_million_tokens_take_13_4_gib_in_fp8_ds_mla() -> None:
    assert round(2**18 * token_bytes(GLM_5_3, FP8_DS_MLA).all_bytes / 2**30, 1) == 13.4


def test_latents_of_200k_tokens_take_5_5_gb_in_nvfp4() -> None:
    parts = token_bytes(GLM_5_3, NVFP4_DS_MLA)
    assert round(200_000 * (parts.latent_bytes + parts.rope_bytes + parts.scales_bytes) / 1e9, 1) == 5.5


def test_nvfp4_saves_less_over_all_state_than_a_row_says() -> None:
    assert round(FP8.row_bytes / NVFP4_DS_MLA.row_bytes, 2) == 1.64
    saved = token_bytes(GLM_5_3, FP8).all_bytes / token_bytes(GLM_5_3, NVFP4_DS_MLA).all_bytes
    assert round(saved, 3) == 1.576


@pytest.mark.parametrize(("row", "layer"), [(FP8, 611.5), (FP8_DS_MLA, 691.5), (NVFP4_DS_MLA, 387.5)])
def test_indexer_keys_spread_over_all_layers_add_35_5_bytes_to_a_row(row: Row, layer: float) -> None:
    parts = token_bytes(GLM_5_3, row)
    assert round((parts.all_bytes - parts.mtp_bytes) / GLM_5_3.layers, 1) == layer
