"""Our layouts and rows beside vLLM's own."""

import pytest

from components.kvcache.layouts import Cut, Layout
from components.kvcache.rows import GLM_5_3, INDEXER_ROW_BYTES, NVFP4_DS_MLA

torch = pytest.importorskip("torch")
interface = pytest.importorskip("vllm.v1.kv_cache_interface")
KVCacheLayout = pytest.importorskip("vllm.v1.kv_cache_layout").KVCacheLayout

POOL_BLOCKS = 5


def test_every_layout_of_vllm_is_known_with_its_outermost_axis() -> None:
    assert {layout.name: layout.block_major for layout in Layout} == {
        layout.name: layout.is_block_outermost for layout in KVCacheLayout
    }


@pytest.mark.parametrize("layout", Layout)
@pytest.mark.parametrize("row_bytes", [NVFP4_DS_MLA.row_bytes, INDEXER_ROW_BYTES])
def test_pages_lie_as_far_apart_as_vllm_lays_them(layout: Layout, row_bytes: int) -> None:
    spec = interface.MLAAttentionSpec(block_size=64, num_kv_heads=1, head_size=row_bytes, dtype=torch.uint8)
    layers = sum(page.size_bytes == spec.page_size_bytes for page in pages(layout).pages)
    between_layers, between_blocks, *_ = interface.compute_layout_strides(
        spec, POOL_BLOCKS, layers, KVCacheLayout[layout.name]
    )
    of_size = [region for region in pages(layout).regions(POOL_BLOCKS) if region.piece_bytes == spec.page_size_bytes]
    if layout.block_major:
        # vLLM interleaves pages of other sizes by one stride for the whole block.
        assert {region.stride_bytes for region in of_size} == {pages(layout).block_bytes}
    else:
        assert {region.stride_bytes for region in of_size} == {between_blocks}
    assert of_size[1].offset_bytes - of_size[0].offset_bytes == between_layers


def pages(layout: Layout) -> Cut:
    return Cut(GLM_5_3, NVFP4_DS_MLA, layout, 64, whole_rows=False)
