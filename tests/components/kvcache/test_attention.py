"""What is refused before anything is launched; `kernels/test_decode.py` has what is computed."""

import subprocess
import sys
from typing import Any

import pytest
import torch

from components.kvcache.attention import sparse_mla_decode


def arguments(**changed: Any) -> dict[str, Any]:
    usual: dict[str, Any] = {
        "query": torch.zeros(2, 16, 576, dtype=torch.bfloat16),
        "cache": torch.zeros(3, 64, 352, dtype=torch.uint8),
        "indices": torch.zeros(2, 8, dtype=torch.int32),
        "scale": 1.0,
    }
    return usual | changed


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"query": torch.zeros(2, 16, 512)}, r"query: its shape is \(2, 16, 512\), not \(any, any, 576\)"),
        ({"query": torch.zeros(2, 576)}, r"query: its shape is \(2, 576\)"),
        ({"query": torch.zeros(2, 16, 576, dtype=torch.float64)}, "query: its dtype is torch.float64"),
        ({"query": torch.zeros(2, 576, 16).mT}, "query: its last axis is not contiguous"),
        ({"cache": torch.zeros(3, 64, 576, dtype=torch.uint8)}, r"cache: its shape is \(3, 64, 576\)"),
        ({"cache": torch.zeros(3, 64, 352)}, "cache: its dtype is torch.float32, not torch.uint8"),
        ({"cache": torch.zeros(3, 64, 368, dtype=torch.uint8)[..., :352]}, "cache: 368 bytes from row to row, not 352"),
        (
            {"cache": torch.zeros(3, 64 * 352 + 8, dtype=torch.uint8)[:, :-8].unflatten(1, (64, 352))},
            "cache: its blocks do not begin at multiples of 16 bytes",
        ),
        ({"indices": torch.zeros(2, 8, dtype=torch.int64)}, "indices: its dtype is torch.int64, not torch.int32"),
        ({"indices": torch.zeros(3, 8, dtype=torch.int32)}, r"indices: its shape is \(3, 8\), not \(2, any\)"),
        ({"requests": torch.zeros(2, dtype=torch.int32)}, "block_table and requests go together"),
        ({"block_table": torch.zeros(2, 4, dtype=torch.int32)}, "block_table and requests go together"),
        (
            {"block_table": torch.zeros(2, 4, dtype=torch.int32), "requests": torch.zeros(3, dtype=torch.int32)},
            r"requests: its shape is \(3,\), not \(2\)",
        ),
        ({"out": torch.zeros(2, 16, 512)}, "out: its dtype is torch.float32, not torch.bfloat16"),
        ({"out": torch.zeros(2, 16, 1024, dtype=torch.bfloat16)[..., :512]}, "out: it is not contiguous"),
        ({"lse": torch.zeros(16, 2)}, r"lse: its shape is \(16, 2\), not \(2, 16\)"),
        ({"splits": 0}, "splits: 0 is below one"),
    ],
)
def test_an_argument_that_the_kernel_cannot_take_is_named(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sparse_mla_decode(**arguments(**changed))


def test_without_a_gpu_or_the_interpreter_one_line_says_what_is_needed() -> None:
    with pytest.raises(ValueError, match="tensors are on cpu: without a GPU the kernels need Triton's interpreter"):
        sparse_mla_decode(**arguments())


@pytest.mark.parametrize("module", ["attention", "writer"])
def test_a_missing_triton_is_named_with_what_installs_it(module: str) -> None:
    script = f"import sys; sys.modules['triton'] = None; import components.kvcache.{module}"
    ended = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True)
    assert ended.returncode == 1
    assert "the NVFP4 kernels need Triton, which is not installed: pip install 'dynamo-glm[kv]'" in ended.stderr


def test_the_package_loads_neither_torch_nor_triton() -> None:
    script = (
        "import sys, components.kvcache, components.kvcache.rows, components.kvcache.layouts; "
        "sys.exit('torch' in sys.modules or 'triton' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
