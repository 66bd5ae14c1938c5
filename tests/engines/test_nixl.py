"""Real NIXL between two processes: bytes arrive, and pieces merge as `components/kvcache/layouts` says."""

from collections.abc import Iterator

import pytest

pytest.importorskip("nixl_cu12")

from benchmarks.nixl.cases import Case
from benchmarks.nixl.peer import Link, link
from benchmarks.nixl.pieces import block_tables
from components.kvcache.layouts import Cut, Layout, count_runs
from components.kvcache.rows import GLM_5_3, NVFP4_DS_MLA

TOKENS = 4_096


def case(layout: Layout, block_tokens: int, *, whole_rows: bool = True, fresh: bool = False) -> Case:
    return Case(TOKENS, Cut(GLM_5_3, NVFP4_DS_MLA, layout, block_tokens, whole_rows), 32, fresh)


CASES = [
    case(Layout.LBNHC, 1024),
    case(Layout.LBNHC, 64),
    case(Layout.BLHNC, 64),
    case(Layout.BLHNC, 64, whole_rows=False),
    case(Layout.LBNHC, 64, fresh=True),
    case(Layout.BLHNC, 64, fresh=True),
    case(Layout.BLHNC, 64, whole_rows=False, fresh=True),
]


@pytest.fixture(scope="module")
def connected() -> Iterator[Link]:
    with link(max(moved.pool_bytes for moved in CASES)) as both:
        yield both


@pytest.mark.parametrize("moved", CASES, ids=lambda moved: moved.name)
def test_every_word_arrives_in_the_pieces_that_layouts_counts(connected: Link, moved: Case) -> None:
    here, there = (table.tolist() for table in block_tables(moved))
    with connected.transfer(moved) as transfer:
        transfer.check()
        times = transfer.move()
    assert times.posted == moved.cut.merged_pieces(moved.blocks, count_runs(here, there))
    assert 0 < times.post_ms <= times.total_ms
