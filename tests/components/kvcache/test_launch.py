import pytest
import torch

from components.kvcache import launch

HOPPER_BYTES = 232448
CONSUMER_BYTES = 101376


@pytest.mark.parametrize(
    ("heads", "shared_bytes", "width", "rows"),
    [
        (1, HOPPER_BYTES, 16, 128),
        (16, HOPPER_BYTES, 16, 128),
        (17, HOPPER_BYTES, 32, 128),
        (64, HOPPER_BYTES, 32, 128),
        (128, HOPPER_BYTES, 32, 128),
        (64, CONSUMER_BYTES, 16, 64),
        (5, CONSUMER_BYTES, 16, 64),
    ],
)
def test_a_program_takes_as_many_heads_and_rows_as_fit_it(heads: int, shared_bytes: int, width: int, rows: int) -> None:
    tile = launch.tile(heads, shared_bytes)
    assert (tile.heads, tile.rows) == (width, rows)


def test_products_in_float32_take_the_least_heads() -> None:
    assert launch.tile(64, HOPPER_BYTES, exact=True).heads == 16


@pytest.mark.parametrize(
    ("tokens", "head_tiles", "row_tiles", "splits"),
    [
        # 132 multiprocessors: one token spreads over as many tiles as there are, up to 32.
        (1, 1, 32, 32),
        (1, 1, 8, 8),
        # Two for each multiprocessor's half, and one where tokens alone fill the GPU.
        (64, 1, 32, 2),
        (128, 1, 32, 1),
        (256, 1, 32, 1),
        # Nothing to divide.
        (1, 1, 1, 1),
        (7, 2, 0, 1),
    ],
)
def test_splits_fill_the_gpu_and_no_more(tokens: int, head_tiles: int, row_tiles: int, splits: int) -> None:
    assert launch.count_splits(tokens, head_tiles, row_tiles, 132) == splits


def test_splits_never_outnumber_tiles_or_what_the_merge_holds() -> None:
    for tokens in (1, 2, 3, 5, 31, 100):
        for row_tiles in range(1, 130, 7):
            assert 1 <= launch.count_splits(tokens, 1, row_tiles, 132) <= min(row_tiles, 32)


def test_powers_of_two_are_kept_and_others_rounded_up() -> None:
    assert [launch.power_of_two(number) for number in (1, 2, 3, 16, 17, 2048)] == [1, 2, 4, 16, 32, 2048]


def test_a_cpu_has_one_processor_and_interprets_hoppers_tiles() -> None:
    cpu = torch.device("cpu")
    assert launch.processors(cpu) == 1
    assert launch.shared_bytes(cpu) == HOPPER_BYTES


@pytest.mark.parametrize(("capability", "way"), [((8, 9), 1), ((9, 0), 1), ((10, 0), 2), ((10, 3), 2), ((12, 0), 2)])
def test_the_capability_says_how_e2m1_is_converted(
    capability: tuple[int, int], way: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _device: capability)
    assert launch.conversions(torch.device("cuda")) == way


def test_a_gpu_without_e4m3_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _device: (8, 0))
    with pytest.raises(ValueError, match=r"compute capability 8\.0: NVFP4 rows need 8\.9 or above"):
        launch.conversions(torch.device("cuda"))
