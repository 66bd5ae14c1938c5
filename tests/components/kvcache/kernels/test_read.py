import torch
from torch import Tensor

from components.kvcache.reader import read_rows
from tests.components.kvcache.selections import decoded, paged, random_rows

BLOCK_TOKENS = 16
TABLE = torch.tensor([[7, 3, 11, -1], [2, 10, 4, 8]], dtype=torch.int32)


def contexts(lengths: list[int]) -> tuple[Tensor, Tensor]:
    """Rows of both requests, one behind the other, and their slots."""
    source = torch.Generator().manual_seed(5)
    slots = [
        int(TABLE[request, at // BLOCK_TOKENS]) * BLOCK_TOKENS + at % BLOCK_TOKENS
        for request, length in enumerate(lengths)
        for at in range(length)
    ]
    # All scales that are numbers: from zero over the denormals to 448.
    return random_rows(len(slots), source, scale_codes=(0, 0x7F)), torch.tensor(slots)


def test_contexts_come_out_one_behind_the_other_and_exact() -> None:
    rows, slots = contexts([33, 64])
    for block_major in (False, True):
        cache = paged(rows, slots, BLOCK_TOKENS, block_major=block_major)
        out = torch.full((100, 576), torch.nan, dtype=torch.bfloat16)
        read_rows(cache, TABLE, torch.tensor([0, 33, 97], dtype=torch.int32), out, longest=64)
        assert torch.equal(out[:97].double(), decoded(rows))
        assert out[97:].isnan().all()


def test_a_context_without_rows_takes_no_place() -> None:
    rows, slots = contexts([0, 20])
    out = torch.full((20, 576), torch.nan, dtype=torch.bfloat16)
    starts = torch.tensor([0, 0, 20], dtype=torch.int32)
    read_rows(paged(rows, slots, BLOCK_TOKENS, block_major=True), TABLE, starts, out, longest=20)
    assert torch.equal(out.double(), decoded(rows))


def test_nothing_is_read_without_requests() -> None:
    cache = torch.zeros(1, BLOCK_TOKENS, 352, dtype=torch.uint8)
    out = torch.full((4, 576), torch.nan, dtype=torch.bfloat16)
    read_rows(cache, TABLE[:0], torch.tensor([0], dtype=torch.int32), out, longest=0)
    assert out.isnan().all()
