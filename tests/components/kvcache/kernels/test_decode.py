import ctypes
import math
import mmap

import pytest
import torch
from torch import Tensor

from components.kvcache.attention import sparse_mla_decode
from tests.components.kvcache.selections import POISON, attended, decoded, paged, random_rows, relative_error

SCALE = 576**-0.5


def random(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def selected(
    tokens: int, entries: int, filled: int, slots: int, source: torch.Generator
) -> tuple[Tensor, list[Tensor]]:
    """Indices into `slots` with that many filled entries at random places, and each token's choice."""
    indices = torch.full((tokens, entries), -1, dtype=torch.int32)
    chosen = []
    for token in range(tokens):
        lines = torch.randperm(slots, generator=source)[:filled]
        indices[token, torch.randperm(entries, generator=source)[:filled]] = lines.int()
        chosen.append(lines)
    return indices, chosen


def poisoned(query: Tensor) -> tuple[Tensor, Tensor]:
    tokens, heads, _ = query.shape
    out = torch.full((tokens, heads, 512), math.nan, dtype=query.dtype)
    return out, torch.full((tokens, heads), math.nan)


@pytest.mark.parametrize(
    ("tokens", "heads", "entries", "filled", "splits"),
    [
        (1, 1, 1, 1, None),
        (2, 16, 64, 64, None),
        (1, 16, 2048, 2048, 8),
        (1, 64, 128, 128, 2),
        (1, 8, 100, 61, 1),
        (3, 5, 65, 64, 2),
        (2, 33, 17, 9, 3),
        (1, 16, 2048, 40, 5),
        (5, 3, 31, 31, 2),
    ],
)
@pytest.mark.parametrize("block_major", [False, True], ids=["layer-major", "block-major"])
def test_attention_is_that_of_float64_over_the_decoded_rows(
    *, tokens: int, heads: int, entries: int, filled: int, splits: int | None, block_major: bool
) -> None:
    source = random(entries + filled)
    count = filled + 7
    rows = random_rows(count, source)
    # Slot zero is nobody's, so that whatever reads it for an empty entry finds poison.
    slots = 1 + torch.randperm(3 * count, generator=source)[:count]
    lines, chosen = selected(tokens, entries, filled, count, source)
    indices = torch.where(lines < 0, -1, slots[lines].int())
    query = torch.randn(tokens, heads, 576, generator=source)
    out, lse = poisoned(query)
    cache = paged(rows, slots, 16, block_major=block_major)
    result = sparse_mla_decode(query, cache, indices, scale=SCALE, splits=splits, out=out, lse=lse)
    assert result == (out, lse)
    want, want_lse = attended(query, decoded(rows), chosen, SCALE)
    assert relative_error(out, want) < 1e-5
    torch.testing.assert_close(lse.double(), want_lse, rtol=1e-5, atol=1e-5)


def test_positions_go_through_each_requests_line_of_the_block_table() -> None:
    source = random(1)
    context, block_tokens = 75, 16
    rows = random_rows(2 * context, source)
    table = torch.full((4, 6), -1, dtype=torch.int32)
    table[1, :5] = torch.tensor([7, 3, 11, 1, 9])
    table[3, :5] = torch.tensor([2, 10, 4, 8, 6])
    position = torch.arange(context)
    slots = torch.cat(
        [table[line, position // block_tokens] * block_tokens + position % block_tokens for line in (1, 3)]
    )
    cache = paged(rows, slots.long(), block_tokens, block_major=True)
    indices, chosen = selected(4, 70, 33, context, source)
    requests = torch.tensor([3, 1, 1, 3], dtype=torch.int32)
    query = torch.randn(4, 16, 576, generator=source)
    out, lse = sparse_mla_decode(query, cache, indices, scale=SCALE, block_table=table, requests=requests, splits=2)
    lines = [line + (context if request == 3 else 0) for line, request in zip(chosen, requests, strict=True)]
    want, want_lse = attended(query, decoded(rows), lines, SCALE)
    assert relative_error(out, want) < 1e-5
    torch.testing.assert_close(lse.double(), want_lse, rtol=1e-5, atol=1e-5)
    # A position behind the request's last block has no row: its entry of the table is -1.
    beyond = torch.where(indices < 0, 5 * block_tokens, indices)
    assert (beyond != indices).any()
    again = sparse_mla_decode(query, cache, beyond, scale=SCALE, block_table=table, requests=requests, splits=2)
    assert torch.equal(again[0], out)
    assert torch.equal(again[1], lse)


@pytest.mark.parametrize("position", [3 * 16, 4 * 16 - 1, 2**31 - 1])
def test_a_position_beyond_the_block_table_is_an_empty_entry(position: int) -> None:
    source = random(11)
    rows = random_rows(64, source)
    cache = paged(rows, torch.arange(64), 16, block_major=False)
    # Behind the table's width there is a block that could be read.
    table = torch.tensor([[2, 0, 3, 1]], dtype=torch.int32)[:, :3]
    indices = torch.tensor([[5, -1, 40, 17]], dtype=torch.int32)
    query = torch.randn(1, 4, 576, generator=source)
    given = {"scale": SCALE, "block_table": table, "requests": torch.zeros(1, dtype=torch.int32)}
    want, want_lse = sparse_mla_decode(query, cache, indices, **given)
    have, lse = sparse_mla_decode(query, cache, torch.where(indices < 0, position, indices), **given)
    assert torch.equal(have, want)
    assert torch.equal(lse, want_lse)


@pytest.mark.parametrize("splits", [1, 3])
def test_a_token_without_a_selected_row_has_zeros_and_minus_infinity(splits: int) -> None:
    source = random(2)
    rows = random_rows(150, source)
    slots = 1 + torch.arange(150)
    indices = torch.full((3, 150), -1, dtype=torch.int32)
    indices[1] = slots.int()
    # The first and the third token's, and all splits but one of the fourth's.
    indices = torch.cat([indices, torch.where(torch.arange(150) == 149, slots.int(), -1)[None]])
    query = torch.randn(4, 4, 576, generator=source)
    out, lse = poisoned(query)
    sparse_mla_decode(
        query, paged(rows, slots, 64, block_major=False), indices, scale=SCALE, splits=splits, out=out, lse=lse
    )
    assert torch.equal(out[[0, 2]], torch.zeros(2, 4, 512))
    assert torch.equal(lse[[0, 2]], torch.full((2, 4), -torch.inf))
    torch.testing.assert_close(out[3], decoded(rows)[149, :512].float().expand(4, 512), rtol=1e-6, atol=0)
    want, _ = attended(query[1:2], decoded(rows), [torch.arange(150)], SCALE)
    assert relative_error(out[1:2], want) < 1e-5


def test_a_launch_without_tokens_or_entries_has_nothing_to_read() -> None:
    cache = torch.full((1, 64, 352), POISON, dtype=torch.uint8)
    out, lse = sparse_mla_decode(torch.zeros(0, 16, 576), cache, torch.zeros(0, 8, dtype=torch.int32), scale=1.0)
    assert out.shape == (0, 16, 512)
    assert lse.shape == (0, 16)
    out, lse = sparse_mla_decode(torch.ones(2, 3, 576), cache, torch.zeros(2, 0, dtype=torch.int32), scale=1.0)
    assert torch.equal(out, torch.zeros(2, 3, 512))
    assert torch.equal(lse, torch.full((2, 3), -torch.inf))


def test_a_single_row_comes_back_exactly_for_every_code_and_scale() -> None:
    # 126 scales of 16 codes each: four rows of 32 blocks.
    rows = torch.zeros(4, 352, dtype=torch.uint8)
    rows[:, :256] = torch.tensor([2 * i + 16 * (2 * i + 1) for i in range(8)], dtype=torch.uint8).repeat(32)
    rows[:, 320:] = (torch.arange(128) % 127).view(4, 32)
    want = decoded(rows)[:, None, :512].float()
    assert len(want.unique()) > 400
    for dtype in (torch.float32, torch.float16):
        out, _ = sparse_mla_decode(
            torch.randn(4, 1, 576, generator=random(3)).to(dtype),
            paged(rows, torch.arange(4), 4, block_major=False),
            torch.arange(4, dtype=torch.int32)[:, None],
            scale=SCALE,
        )
        assert torch.equal(out.float(), want)


@pytest.mark.parametrize(("scale_codes", "scale"), [((1, 3), SCALE), ((0x7D, 0x7F), 1e-4), ((1, 0x7F), 1e-4)])
def test_extreme_block_scales_keep_the_error(scale_codes: tuple[int, int], scale: float) -> None:
    source = random(4)
    rows = random_rows(130, source, scale_codes)
    query = torch.randn(1, 16, 576, generator=source)
    indices = torch.randperm(130, generator=source).int()[None]
    out, lse = sparse_mla_decode(
        query, paged(rows, torch.arange(130), 64, block_major=False), indices, scale=scale, splits=2
    )
    want, want_lse = attended(query, decoded(rows), [indices[0].long()], scale)
    assert relative_error(out, want) < 1e-5
    torch.testing.assert_close(lse.double(), want_lse, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("dtype", "size", "scale_codes", "most"),
    [
        # A probability in fp16, a split's output and the output's own rounding: 2^-12 each, on average less.
        (torch.float16, 1.0, (40, 64), 5e-4),
        (torch.float16, 1.0, (1, 3), 5e-4),
        (torch.float16, 1.0, (1, 0x7F), 5e-4),
        # The interpreter cuts bf16 off where a GPU rounds: 2^-8.
        (torch.bfloat16, 1.0, (40, 64), 5e-3),
        # Far beyond what fp16 holds, either way.
        (torch.bfloat16, 2.0**60, (40, 64), 5e-3),
        (torch.bfloat16, 2.0**-60, (40, 64), 5e-3),
    ],
)
def test_products_in_fp16_cost_what_their_rounding_does(
    dtype: torch.dtype, size: float, scale_codes: tuple[int, int], most: float
) -> None:
    source = random(5)
    rows = random_rows(300, source, scale_codes)
    indices, chosen = selected(2, 256, 250, 300, source)
    # 33 heads: two programs of 32, of which the second has one.
    query = (torch.randn(2, 33, 576, generator=source) * size).to(dtype)
    query[1, 3] = 0
    # Scores of about the same size whatever the rows' scales are.
    scale = (SCALE if scale_codes[1] < 0x7F else 1e-4) / size
    cache = paged(rows, torch.arange(300), 64, block_major=True)
    out, lse = sparse_mla_decode(query, cache, indices, scale=scale, splits=2)
    want, want_lse = attended(query, decoded(rows), chosen, scale)
    assert out.dtype == dtype
    assert 1e-6 < relative_error(out, want) < most
    # Query and rows enter products exactly, so the scores have float32's error alone.
    torch.testing.assert_close(lse.double(), want_lse, rtol=1e-5, atol=1e-5)


def test_a_strided_query_and_strided_indices_are_read_where_they_lie() -> None:
    source = random(6)
    rows = random_rows(40, source)
    cache = paged(rows, torch.arange(40), 8, block_major=False)
    indices, chosen = selected(2, 32, 20, 40, source)
    query = torch.randn(2, 4, 576, generator=source)
    wide = torch.full((2, 7, 600), math.nan)
    wide[:, 1:5, :576] = query
    padded = torch.full((2, 50), 39, dtype=torch.int32)
    padded[:, :32] = indices
    out, _ = sparse_mla_decode(wide[:, 1:5, :576], cache, padded[:, :32], scale=SCALE)
    want, _ = attended(query, decoded(rows), chosen, SCALE)
    assert relative_error(out, want) < 1e-5


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_an_empty_entry_reads_no_memory(dtype: torch.dtype) -> None:
    # Whoever reads the first page dies of it, and this process with him: the rows begin on the second one.
    size, page, first = 10 * mmap.PAGESIZE, mmap.PAGESIZE, 12
    assert first * 352 >= page
    memory = mmap.mmap(-1, size)
    whole = torch.frombuffer(memory, dtype=torch.uint8)
    cache = whole[: size // 352 * 352].view(-1, 1, 352)
    rows = random_rows(len(cache) - first, random(7))
    cache[first:, 0] = rows
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.mprotect(ctypes.c_void_p(whole.data_ptr()), page, 0) == 0
    try:
        indices = torch.full((2, 150), -1, dtype=torch.int32)
        indices[0, ::3] = first + torch.arange(50, dtype=torch.int32)
        query = torch.randn(2, 2, 576, generator=random(8)).to(dtype)
        out, _ = sparse_mla_decode(query, cache, indices, scale=SCALE, splits=2)
    finally:
        assert libc.mprotect(ctypes.c_void_p(whole.data_ptr()), page, mmap.PROT_READ | mmap.PROT_WRITE) == 0
    want, _ = attended(query[:1], decoded(rows), [torch.arange(50)], SCALE)
    assert relative_error(out[:1], want) < 1e-3
    assert not out[1].any()
