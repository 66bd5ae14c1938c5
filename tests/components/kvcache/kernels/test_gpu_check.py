"""What `benchmarks/kv` does on a GPU before it times anything, on the CPU and smaller."""

import pytest
import torch

from benchmarks.kv import check as checks
from benchmarks.kv import gather
from benchmarks.kv.contenders import contenders

CPU = torch.device("cpu")


@pytest.fixture
def small() -> list[checks.Found]:
    return list(checks.check(CPU, tokens=3, context=70, selected=40))


def test_the_check_passes_and_covers_all_that_it_names(small: list[checks.Found]) -> None:
    assert [found for found in small if not found.good] == []
    names = [found.name for found in small]
    assert len(names) == len(set(names)) == 2 + 3 * 3 * 2
    exact = [found for found in small if "float32" in found.name]
    assert len(exact) == 6
    assert all(0 < found.error < 1e-5 for found in exact)


def test_the_check_finds_a_wrong_scale(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "_SCALE", 0.05)
    right = checks._attended
    monkeypatch.setattr(checks, "_attended", lambda query, keys, indices: right(query * 1.001, keys, indices))
    found = list(checks.check(CPU, tokens=1, context=70, selected=40))
    assert any(not one.good for one in found if "float32" in one.name)


def test_a_nan_is_not_good() -> None:
    assert not checks.Found("x", float("nan"), 1.0).good


def test_reading_sums_the_words_of_the_selected_rows() -> None:
    rows = torch.arange(12 * 88, dtype=torch.int32).view(12, 88)
    slots = torch.tensor([[3, -1, 7], [0, 11, -1]], dtype=torch.int32)
    sums = torch.full((2, 3), -5, dtype=torch.int32)
    gather.read(rows, slots, sums)
    every = rows.sum(1).tolist()
    assert sums.tolist() == [[every[3], 0, every[7]], [every[0], every[11], 0]]


def test_ours_is_called_as_the_backend_calls_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.kv.contenders.find_spec", lambda _name: None)
    (call,) = contenders(CPU, 16, 64).values()
    cache = torch.full((1, 64, 352), 0x38, dtype=torch.uint8)
    out = torch.full((1, 16, 512), torch.nan, dtype=torch.bfloat16)
    call(torch.ones(1, 16, 576, dtype=torch.bfloat16), cache, torch.tensor([[5, -1]], dtype=torch.int32), out)
    # Nibbles 8 and 3 of 0x38: minus zero and 1.5, of scale 1.
    assert out[0, 0, :4].tolist() == [0.0, 1.5, 0.0, 1.5]
