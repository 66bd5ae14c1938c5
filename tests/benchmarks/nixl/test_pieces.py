import numpy as np
import pytest

from benchmarks.nixl.cases import Case
from benchmarks.nixl.pieces import Words, block_tables, fill, pieces, wrong_words
from components.kvcache.layouts import Cut, Layout, Region, count_runs
from components.kvcache.rows import GLM_5_3, NVFP4_DS_MLA

TOKENS = 300


def case(layout: Layout = Layout.LBNHC, *, whole_rows: bool = True, fresh: bool = False) -> Case:
    return Case(TOKENS, Cut(GLM_5_3, NVFP4_DS_MLA, layout, 64, whole_rows), 32, fresh)


def pool(of: Case) -> Words:
    return np.zeros(of.pool_bytes // 4, dtype=np.uint32)


def copy(of: Case, source: Words, target: Words) -> None:
    """What a transfer does, piece by piece."""
    regions = of.moved.regions(of.pool_blocks)
    here, there = block_tables(of)
    for left, right in zip(pieces(regions, here, 0), pieces(regions, there, 0), strict=True):
        length = int(left[1])
        target.view(np.uint8)[int(left[0]) : int(left[0]) + length] = source.view(np.uint8)[int(right[0]) :][:length]


ALL = [case(), case(Layout.BLHNC), case(Layout.BLHNC, whole_rows=False), case(fresh=True)]


@pytest.mark.parametrize("moved", ALL, ids=lambda moved: moved.name)
def test_a_right_transfer_has_no_wrong_word(moved: Case) -> None:
    source, target = pool(moved), pool(moved)
    fill(source)
    copy(moved, source, target)
    assert wrong_words(target, moved.moved.regions(moved.pool_blocks), *block_tables(moved)) == 0


@pytest.mark.parametrize("moved", ALL, ids=lambda moved: moved.name)
def test_one_flipped_bit_is_a_wrong_word(moved: Case) -> None:
    source, target = pool(moved), pool(moved)
    fill(source)
    copy(moved, source, target)
    last = pieces(moved.moved.regions(moved.pool_blocks), block_tables(moved)[0], 0)[-1]
    target.view(np.uint8)[int(last[0] + last[1]) - 1] ^= 1
    assert wrong_words(target, moved.moved.regions(moved.pool_blocks), *block_tables(moved)) == 1


def test_what_never_arrived_is_wrong() -> None:
    moved = case()
    wrong = wrong_words(pool(moved), moved.moved.regions(moved.pool_blocks), *block_tables(moved))
    # Word 0 of the remote pool is 0, as an empty pool is.
    assert moved.moved_bytes // 4 - wrong in {0, 1}


def test_blocks_swapped_on_the_way_are_wrong() -> None:
    moved = case(Layout.BLHNC)
    source = pool(moved)
    fill(source)
    here, there = np.array([0, 1]), np.array([1, 0])
    assert wrong_words(source, moved.moved.regions(moved.pool_blocks), here, there) > 0


def test_pieces_come_region_after_region() -> None:
    regions = (Region("a", 0, 8, 8), Region("b", 80, 4, 16))
    assert pieces(regions, np.array([2, 0]), 1000).tolist() == [[1016, 8, 0], [1000, 8, 0], [1112, 4, 0], [1080, 4, 0]]


def test_no_blocks_of_a_used_pool_are_neighbours_and_all_of_a_fresh_one_are() -> None:
    used = Case(200_000, Cut(GLM_5_3, NVFP4_DS_MLA, Layout.BLHNC, 64), 32)
    here, there = block_tables(used)
    assert sorted(here.tolist()) == sorted(there.tolist()) == list(range(3_125))
    assert count_runs(here.tolist(), there.tolist()) >= 3_120
    here, there = block_tables(Case(used.tokens, used.cut, 32, fresh=True))
    assert count_runs(here.tolist(), there.tolist()) == 1


def test_every_word_of_a_pool_is_different() -> None:
    words = np.zeros(100_000, dtype=np.uint32)
    fill(words)
    assert len(np.unique(words)) == 100_000
