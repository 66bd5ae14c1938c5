import pytest

from benchmarks.nixl.cases import CONTEXTS_TOKENS, SCALES, Case, comparisons
from components.kvcache.layouts import Cut, Layout
from components.kvcache.rows import GLM_5_3, NVFP4_DS_MLA


@pytest.mark.parametrize("scale", SCALES)
def test_a_scale_keeps_the_pieces_and_divides_the_bytes(scale: int) -> None:
    for (_, whole), (_, scaled) in zip(comparisons(1), comparisons(scale), strict=True):
        for one, other in zip(whole, scaled, strict=True):
            assert (one.pieces, one.blocks) == (other.pieces, other.blocks)
            assert one.moved_bytes == other.moved_bytes * scale


@pytest.mark.parametrize("scale", SCALES)
def test_every_page_is_whole_words(scale: int) -> None:
    for _, cases in comparisons(scale):
        assert all(page.size_bytes % 4 == 0 for case in cases for page in case.moved.pages)


def test_each_context_and_row_is_compared_layer_major_first() -> None:
    compared = dict(comparisons(32))
    assert list(compared) == [
        "124,160 tokens, rows of 352 B",
        "124,160 tokens, rows of 576 B",
        "200,000 tokens, rows of 352 B",
        "200,000 tokens, rows of 576 B",
    ]
    for cases in compared.values():
        assert [case.name for case in cases[:2]] == ["layer-major, 1,024 tokens", "block-major, 64 tokens"]


def test_the_write_ups_pieces_are_moved() -> None:
    assert CONTEXTS_TOKENS == (1_940 * 64, 3_125 * 64)
    pieces = [[case.pieces for case in cases] for _, cases in comparisons(32)]
    assert pieces == [[12_322, 1_940], [12_322, 1_940], [19_796, 3_125, 315_625, 19_796, 3_125], [19_796, 3_125]]


def test_cuts_move_the_same_but_for_the_last_block() -> None:
    for _, cases in comparisons(1):
        assert max(case.moved_bytes for case in cases) < 1.01 * min(case.moved_bytes for case in cases)


def test_a_pool_has_a_block_to_spare() -> None:
    case = Case(200, Cut(GLM_5_3, NVFP4_DS_MLA, Layout.BLHNC, 64), 1)
    assert case.pool_bytes == 5 * 64 * 30_712
