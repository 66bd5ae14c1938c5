"""The kernels by Triton's interpreter, on the CPU: `test_interpreted.py` of the folder above runs this one.

`TRITON_INTERPRET=1` must be set before anything imports Triton, and other tests of the same process want a compiler.
"""

from collections.abc import Iterator

import pytest
import torch
import triton


def pytest_collection() -> None:
    if not triton.knobs.runtime.interpret:
        raise pytest.UsageError("tests/components/kvcache/kernels: run it with TRITON_INTERPRET=1")


@pytest.fixture(autouse=True)
def _poisoned_memory() -> Iterator[None]:
    """Fill what is allocated and not written with NaN, the buffers between two launches among them."""
    torch.use_deterministic_algorithms(mode=True)
    assert torch.utils.deterministic.fill_uninitialized_memory
    assert torch.empty(1).isnan().all()
    yield
    torch.use_deterministic_algorithms(mode=False)
