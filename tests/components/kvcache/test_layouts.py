import pytest

from components.kvcache.layouts import Cut, Layout, Ranks, Region, count_runs
from components.kvcache.rows import (
    FP8,
    FP8_DS_MLA,
    GLM_5_3,
    INDEXER_ROW_BYTES,
    NVFP4_DS_MLA,
    ROWS,
    Row,
    token_bytes,
)

POOL = 7


def cut(layout: Layout, block_tokens: int, row: Row = NVFP4_DS_MLA, *, whole_rows: bool = True) -> Cut:
    return Cut(GLM_5_3, row, layout, block_tokens, whole_rows)


@pytest.mark.parametrize(
    ("row", "block"),
    [(FP8, 3_098_112), (FP8_DS_MLA, 3_502_592), (NVFP4_DS_MLA, 1_965_568)],
    ids=str,
)
def test_a_block_of_64_tokens_has_the_published_bytes(row: Row, block: int) -> None:
    assert cut(Layout.BLHNC, 64, row).block_bytes == block
    assert cut(Layout.LBNHC, 64, row).block_bytes == block


@pytest.mark.parametrize(("row", "padding"), [(NVFP4_DS_MLA, 0), (FP8, 192), (FP8_DS_MLA, 448)])
def test_a_block_major_block_is_padded_to_whole_rows(row: Row, padding: int) -> None:
    block_major = cut(Layout.BLHNC, 64, row)
    assert block_major.padding_bytes == padding
    assert (block_major.block_bytes + padding) % row.row_bytes == 0


def test_a_block_of_64_tokens_is_5584_rows_of_352_bytes() -> None:
    assert cut(Layout.BLHNC, 64).block_bytes == 5_584 * NVFP4_DS_MLA.row_bytes


def test_layer_major_pages_are_not_padded() -> None:
    assert cut(Layout.LBNHC, 64, FP8).padding_bytes == 0


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
@pytest.mark.parametrize("layout", Layout)
def test_a_block_keeps_what_its_tokens_keep(layout: Layout, row: Row) -> None:
    assert cut(layout, 64, row).block_bytes == 64 * token_bytes(GLM_5_3, row).all_bytes


def test_layer_major_has_a_region_for_each_latent_indexer_and_mtp_page() -> None:
    pages = cut(Layout.LBNHC, 64).pages
    assert cut(Layout.LBNHC, 64).pieces_per_block == len(pages) == 78 + 21 + 2
    assert [page.name for page in pages[76:80]] == ["76", "77", "0 indexer", "1 indexer"]
    assert [(page.name, page.size_bytes) for page in pages[-2:]] == [
        ("78 mtp", 64 * 352),
        ("78 mtp indexer", 64 * INDEXER_ROW_BYTES),
    ]


def test_block_major_has_one_region() -> None:
    assert cut(Layout.BLHNC, 64).regions(POOL) == (Region("block", 0, 1_965_568, 1_965_568),)


@pytest.mark.parametrize("whole_rows", [True, False])
@pytest.mark.parametrize("layout", Layout)
def test_the_regions_cover_every_byte_of_the_cache_once(layout: Layout, *, whole_rows: bool) -> None:
    chosen = cut(layout, 64, whole_rows=whole_rows)
    spans = sorted(
        (begin, begin + region.piece_bytes)
        for region in chosen.regions(POOL)
        for begin in (region.offset_bytes + block * region.stride_bytes for block in range(POOL))
    )
    assert len(spans) == POOL * chosen.pieces_per_block
    assert [begin for begin, _ in spans] == [0, *(end for _, end in spans[:-1])]
    assert spans[-1][1] == POOL * chosen.block_bytes


def test_a_connector_that_takes_pages_makes_101_pieces_of_a_block_major_block() -> None:
    pages = cut(Layout.BLHNC, 64, whole_rows=False)
    assert pages.pieces_per_block == 101
    assert {region.stride_bytes for region in pages.regions(POOL)} == {1_965_568}


def test_200k_tokens_are_15288_copies_of_layers_and_3125_of_blocks() -> None:
    layer_major, block_major = cut(Layout.LBNHC, 1024), cut(Layout.BLHNC, 64)
    # Latents alone: indexer and MTP pages are not counted.
    assert layer_major.blocks(200_000) * GLM_5_3.layers == 15_288
    assert block_major.pieces(200_000) == 3_125
    assert layer_major.pieces(200_000) == 19_796


def test_124k_tokens_are_1940_blocks_of_64() -> None:
    assert cut(Layout.BLHNC, 64).pieces(124_160) == 1_940
    assert cut(Layout.LBNHC, 1024).pieces(124_160) == 12_322


def test_19559_pieces_agree_with_a_mean_of_198k_tokens_in_layer_major_blocks() -> None:
    per_block = cut(Layout.LBNHC, 1024).pieces_per_block
    # No single transfer: not a multiple of the regions. vLLM logs means.
    assert 19_559 % per_block != 0
    tokens = 19_559 / per_block * 1024
    assert round(tokens, -3) == 198_000
    # Of as many tokens, 1,940 pieces are left where NIXL merges runs of 1.6 blocks.
    assert round(tokens / 64 / 1_940, 1) == 1.6


def test_a_transfer_moves_whole_blocks() -> None:
    assert cut(Layout.BLHNC, 64).moved_bytes(65) == 2 * 1_965_568
    assert cut(Layout.LBNHC, 1024).moved_bytes(200_000) == 200_704 * 30_712


def test_nothing_is_moved_for_no_tokens() -> None:
    assert cut(Layout.BLHNC, 64).pieces(0) == cut(Layout.BLHNC, 64).moved_bytes(0) == 0


def test_runs_are_of_blocks_that_follow_one_another_at_both_ends() -> None:
    assert count_runs([4, 5, 6], [0, 1, 2]) == 1
    assert count_runs([4, 5, 6], [0, 1, 3]) == 2
    assert count_runs([6, 5, 4], [2, 1, 0]) == 3
    assert count_runs([], []) == 0


def test_runs_of_unequal_ends_are_refused() -> None:
    with pytest.raises(ValueError, match="shorter"):
        count_runs([1, 2], [1])


def test_merging_leaves_a_piece_for_each_run_and_region() -> None:
    assert cut(Layout.LBNHC, 1024).merged_pieces(blocks=196, runs=1) == 101
    assert cut(Layout.BLHNC, 64).merged_pieces(blocks=3_125, runs=1_940) == 1_940


def test_pages_a_block_apart_are_never_merged() -> None:
    assert cut(Layout.BLHNC, 64, whole_rows=False).merged_pieces(blocks=3_125, runs=1) == 315_625


@pytest.mark.parametrize(
    ("ranks", "copies"),
    [
        (Ranks(tensor_parallel=4), 4),
        (Ranks(tensor_parallel=8), 8),
        (Ranks(data_parallel=8), 1),
        (Ranks(prefill_context_parallel=8, decode_context_parallel=8), 1),
        (Ranks(tensor_parallel=8, decode_context_parallel=4), 2),
    ],
)
def test_copies_of_the_latent_follow_the_ranks_that_share_a_request(ranks: Ranks, copies: int) -> None:
    assert ranks.copies == copies


def test_a_tp4_decoder_pulls_a_request_four_times() -> None:
    block_major = cut(Layout.BLHNC, 64)
    assert Ranks(tensor_parallel=4).request_bytes(block_major, 200_000) == 4 * 200_000 * 30_712


def test_a_rank_of_dcp8_keeps_an_eighth_of_a_million_tokens() -> None:
    ranks = Ranks(prefill_context_parallel=8, decode_context_parallel=8)
    held = ranks.request_bytes(cut(Layout.LBNHC, 64, FP8_DS_MLA), 2**20) / 8
    assert round(held / 2**30, 1) == 6.7


def test_context_parallelism_that_does_not_divide_the_ranks_is_refused() -> None:
    with pytest.raises(ValueError, match="3 does not divide the 4 ranks"):
        Ranks(tensor_parallel=4, decode_context_parallel=3)


def test_a_block_without_tokens_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        cut(Layout.BLHNC, 0)
