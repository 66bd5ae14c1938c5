import torch

from benchmarks.kv.cases import Case
from benchmarks.kv.measure import pools, selections

CPU = torch.device("cpu")


def test_a_selection_has_distinct_rows_of_one_context() -> None:
    case = Case(16, 3, 5000)
    found = selections(case, 4, 20_000, CPU)
    assert found.shape == (4, 3, 2048)
    assert found.dtype == torch.int32
    for rows in found.flatten(0, 1):
        assert len(rows.unique()) == 2048
        assert rows.min() >= 0
        assert rows.max() < 20_000
        assert rows.max() - rows.min() < 5000
        # Neighbours of a selection lie in different blocks.
        assert ((rows[1:] - rows[:-1]).abs() >= 64).all()
    assert len({tuple(rows.tolist()) for rows in found.flatten(0, 1)}) == 12


def test_a_short_context_is_selected_whole() -> None:
    (rows,) = selections(Case(16, 1, 2048), 1, 2048, CPU).flatten(0, 1)
    assert rows.sort().values.tolist() == list(range(2048))


def test_pools_take_as_many_blocks_as_fit_and_have_the_formats_sizes() -> None:
    # A block is 64 rows of 352, 576 and 1,152 bytes: 133,120.
    pool = pools(CPU, int(133_120 * 5 / 0.7) + 1)
    assert pool.cache.shape == (5, 64, 352)
    assert pool.rows == 320
    assert {name: tuple(words.shape) for name, words in pool.words.items()} == {
        "nvfp4_ds_mla": (320, 88),
        "fp8_e4m3": (320, 144),
        "bfloat16": (320, 288),
    }
    assert pools(CPU, 1 << 30, most_blocks=2).rows == 128


def test_timed_rows_have_numbers_of_ordinary_size() -> None:
    pool = pools(CPU, 1 << 30, most_blocks=4)
    numbers = pool.cache[..., 256:].contiguous().view(torch.float8_e4m3fn).float()
    assert numbers.isfinite().all()
    assert numbers[..., :64].abs().max() < 2
    assert (numbers[..., 64:] >= 1).all()
    assert numbers[..., 64:].max() < 2
