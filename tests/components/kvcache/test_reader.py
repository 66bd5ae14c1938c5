from typing import Any

import pytest
import torch

from components.kvcache.kernels import read
from components.kvcache.reader import TILE_ROWS, read_rows
from tests.components.kvcache.test_compile import CONVERSIONS, compiled, stack_bytes

pytestmark = pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION is unset")


def arguments(**changes: Any) -> dict[str, Any]:
    return {
        "cache": torch.zeros(4, 64, 352, dtype=torch.uint8),
        "block_table": torch.zeros(2, 3, dtype=torch.int32),
        "starts": torch.zeros(3, dtype=torch.int32),
        "out": torch.zeros(10, 576, dtype=torch.bfloat16),
        "longest": 5,
    } | changes


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("cache", torch.zeros(4, 64, 656, dtype=torch.uint8), "cache: its shape is"),
        ("block_table", torch.zeros(2, 3, dtype=torch.int64), "block_table: its dtype is torch.int64"),
        ("starts", torch.zeros(2, dtype=torch.int32), "starts: its shape is"),
        ("out", torch.zeros(10, 576), "out: its dtype is torch.float32"),
        ("out", torch.zeros(20, 576, dtype=torch.bfloat16)[::2], "out: it is not contiguous"),
    ],
)
def test_another_tensor_is_refused_by_name(name: str, value: torch.Tensor, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        read_rows(**arguments(**{name: value}))


@pytest.mark.parametrize("capability", [90, 100, 120])
def test_the_reader_is_built_without_touching_the_stack(capability: int, tmp_path: Any) -> None:
    types = {
        "cache": "*u8",
        "cache_block_stride": "i64",
        "block_table": "*i32",
        "block_table_stride": "i32",
        "starts": "*i32",
        "out": "*bf16",
    }
    constants = {"block_tokens": 64, "row_tile": TILE_ROWS, "conversions": CONVERSIONS[capability].value}
    kernel = compiled(read.read, capability, types, 4, **constants)
    assert stack_bytes(kernel, tmp_path) == 0
    assert ("cvt.rn.f16x2.e2m1x2" in kernel.asm["ptx"]) == (capability >= 100)
