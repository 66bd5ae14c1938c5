"""What is refused before anything is launched; `kernels/test_write.py` has what is written."""

from typing import Any

import pytest
import torch

from components.kvcache.writer import write_rotated_rows, write_rows

CACHE = torch.zeros(3, 64, 352, dtype=torch.uint8)


def arguments(**changed: Any) -> dict[str, Any]:
    usual = {
        "latent": torch.zeros(5, 512, dtype=torch.bfloat16),
        "rope": torch.zeros(5, 64, dtype=torch.bfloat16),
        "slots": torch.zeros(5, dtype=torch.int64),
        "cache": CACHE,
    }
    return usual | changed


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"latent": torch.zeros(5, 576)}, r"latent: its shape is \(5, 576\), not \(5, 512\)"),
        ({"latent": torch.zeros(4, 512)}, r"latent: its shape is \(4, 512\), not \(5, 512\)"),
        ({"latent": torch.zeros(512, 5).T}, "latent: its last axis is not contiguous"),
        ({"rope": torch.zeros(5, 64, dtype=torch.uint8)}, "rope: its dtype is torch.uint8"),
        ({"slots": torch.zeros(5)}, "slots: its dtype is torch.float32"),
        ({"cache": CACHE[:, :, :351]}, r"cache: its shape is \(3, 64, 351\)"),
    ],
)
def test_an_argument_that_the_writer_cannot_take_is_named(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        write_rows(**arguments(**changed))


def test_positions_and_cosines_are_checked_as_well() -> None:
    cos_sin = torch.zeros(100, 64)
    with pytest.raises(ValueError, match=r"positions: its shape is \(4,\), not \(5\)"):
        write_rotated_rows(**arguments(), positions=torch.zeros(4, dtype=torch.int64), cos_sin=cos_sin)
    with pytest.raises(ValueError, match=r"cos_sin: its shape is \(100, 32\), not \(any, 64\)"):
        write_rotated_rows(**arguments(), positions=torch.zeros(5, dtype=torch.int64), cos_sin=cos_sin[:, :32])


def test_without_a_gpu_or_the_interpreter_one_line_says_what_is_needed() -> None:
    with pytest.raises(ValueError, match="tensors are on cpu"):
        write_rows(**arguments())
