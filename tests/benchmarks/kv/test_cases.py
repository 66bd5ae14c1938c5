import pytest

from benchmarks.kv.cases import Case, cases, rotations


def test_rows_are_352_bytes_of_each_selected_one() -> None:
    # 64 tokens of 2,048 rows: 46.1 MB.
    assert Case(16, 64, 204_800).row_bytes() == 46_137_344
    assert Case(16, 64, 204_800).row_bytes(1152) == 150_994_944


def test_a_context_shorter_than_the_selection_is_selected_whole() -> None:
    assert Case(16, 1, 500).selected == 500
    assert Case(16, 1, 500).row_bytes() == 176_000


def test_the_rest_is_indices_query_output_and_the_merge() -> None:
    case = Case(16, 2, 2048)
    # 16 KiB of indices, 18 KiB of queries and 16 of outputs a token in bf16, 64 B of log-sum-exps.
    once = 2 * (8192 + 16 * 576 * 2 + 16 * 512 * 2 + 16 * 4)
    assert case.other_bytes(1) == once
    # Each of three splits writes 512 fp16 values and a float a head, which are read again.
    assert case.other_bytes(3) == once + 2 * 3 * 2 * 16 * (1024 + 4)


def test_all_combinations_are_cases() -> None:
    assert len(cases()) == 36
    assert {(case.tokens, case.context) for case in cases()} >= {(1, 2048), (256, 204_800)}


@pytest.mark.parametrize(
    ("launch_bytes", "cache_bytes", "launches"),
    [(1_000_000, 50_000_000, 100), (720_896, 50 << 20, 146), (200_000_000, 50_000_000, 2), (1000, 50_000_000, 256)],
)
def test_twice_the_cache_passes_between_two_launches_on_the_same_rows(
    launch_bytes: int, cache_bytes: int, launches: int
) -> None:
    assert rotations(launch_bytes, cache_bytes) == launches
