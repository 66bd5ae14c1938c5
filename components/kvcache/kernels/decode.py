"""Sparse MLA decode: one program reads one split of one token's selection for a tile of its heads."""

import math

import triton
import triton.language as tl

from components.kvcache.kernels.numbers import from_e4m3, unpack_latent
from components.kvcache.rows import LATENT_VALUES, NVFP4_DS_MLA, ROPE_VALUES

_LATENT = tl.constexpr(LATENT_VALUES)
_HALF = tl.constexpr(LATENT_VALUES // 2)
_ROPE = tl.constexpr(ROPE_VALUES)
_ROW = tl.constexpr(NVFP4_DS_MLA.row_bytes)
_ROPE_AT = tl.constexpr(NVFP4_DS_MLA.rope.offset_bytes)
_SCALES_AT = tl.constexpr(min(NVFP4_DS_MLA.scale_offsets_bytes))
_SCALES = tl.constexpr(NVFP4_DS_MLA.scales_bytes)
_ENTRIES_AT_ONCE = tl.constexpr(2048)
_LOG2_E = tl.constexpr(math.log2(math.e))
_LN_2 = tl.constexpr(math.log(2))


# What changes with the number of tokens is a number to the compiler, so that one kernel is compiled for all of them.
@triton.jit(do_not_specialize=["splits"])
def attend(
    query: tl.tensor,
    query_token_stride: tl.tensor,
    query_head_stride: tl.tensor,
    cache: tl.tensor,
    cache_block_stride: tl.tensor,
    indices: tl.tensor,
    indices_stride: tl.tensor,
    block_table: tl.tensor,
    block_table_stride: tl.tensor,
    positions: tl.tensor,
    requests: tl.tensor,
    out: tl.tensor,
    lse: tl.tensor,
    scale: tl.tensor,
    selected: tl.tensor,
    heads: tl.tensor,
    splits: tl.tensor,
    split_rows: tl.tensor,
    block_tokens: tl.constexpr,
    head_tile: tl.constexpr,
    row_tile: tl.constexpr,
    paged: tl.constexpr,
    conversions: tl.constexpr,
    exact: tl.constexpr,
) -> None:
    """Write one split's output and log-sum-exp, normalized: `out[token, split, head]` and `lse[token, split, head]`.

    Strides are in elements, the cache's in bytes. A program has `head_tile` heads, a power of two from 16 up, those
    beyond `heads` masked; `split_rows` entries of `indices`, a multiple of `row_tile`; and `row_tile` rows on chip at a
    time. With `paged`, entries are positions, and `requests` says each token's line of `block_table`; entries from
    `positions` on are empty. Products are computed in fp16, or with `exact` in float32, and sums in float32;
    `conversions` is one of `numbers`.
    """
    products: tl.constexpr = tl.float32 if exact else tl.float16
    head_tiles = tl.cdiv(heads, head_tile)
    # Programs that share a token's rows are neighbours: the second one finds them in L2.
    head = tl.program_id(0) % head_tiles * head_tile + tl.arange(0, head_tile)
    part = tl.program_id(0) // head_tiles
    token = (part // splits).to(tl.int64)
    line = query + token * query_token_stride
    asked = _load_query(line, query_head_stride, head, heads, scale, head_tile, products)
    line = indices + token * indices_stride
    begin = part % splits * split_rows
    end = _end(line, begin, tl.minimum(begin + split_rows, selected))
    table = block_table
    if paged:
        table += tl.load(requests + token).to(tl.int64) * block_table_stride
    entries = (line, begin, end, cache, table, positions, cache_block_stride)
    found = _attend_entries(asked, entries, block_tokens, head_tile, row_tile, paged, conversions, products)
    _store(out, lse, part.to(tl.int64) * heads + head, head < heads, found)


@triton.jit
def merge(
    partial: tl.tensor,
    partial_lse: tl.tensor,
    out: tl.tensor,
    lse: tl.tensor,
    heads: tl.tensor,
    splits: tl.tensor,
    split_reach: tl.constexpr,
    value_tile: tl.constexpr,
) -> None:
    """Merge the splits of one token and head by their log-sum-exps, `value_tile` of the 512 values a program.

    `partial` is `[tokens, splits, heads, 512]`, `partial_lse` `[tokens, splits, heads]`, and `split_reach` the
    power of two from `splits` up.
    """
    at = tl.program_id(0).to(tl.int64)
    value = tl.program_id(1) * value_tile + tl.arange(0, value_tile)
    split = tl.arange(0, split_reach)
    inside = split < splits
    source = (at // heads * splits + split) * heads + at % heads
    each = tl.load(partial_lse + source, mask=inside, other=float("-inf"))
    top = tl.max(each, 0)
    weight = tl.exp2((each - tl.where(top == float("-inf"), 0.0, top)) * _LOG2_E)
    total = tl.sum(weight, 0)
    rows = tl.load(partial + source[:, None] * _LATENT + value[None, :], mask=inside[:, None], other=0.0)
    merged = tl.sum(rows.to(tl.float32) * weight[:, None], 0) / tl.where(total == 0, 1.0, total)
    tl.store(out + at * _LATENT + value, merged.to(out.dtype.element_ty))
    # All programs of a token and head have the same; one writes it.
    if tl.program_id(1) == 0:
        tl.store(lse + at, _log_sum(top * _LOG2_E, total))


@triton.jit
def _load_query(
    query: tl.tensor,
    head_stride: tl.tensor,
    head: tl.tensor,
    heads: tl.tensor,
    scale: tl.tensor,
    head_tile: tl.constexpr,
    products: tl.constexpr,
) -> tl.tuple:
    """Return even and odd latent values and RoPE, `[values, heads]` each, and what scores are to be multiplied by.

    bf16 has a wider range than fp16, so each head is multiplied by the power of two that brings its largest value
    just below 2^15. Of bf16's eight bits none is lost then in a value down to 2^-32 of that largest one.
    """
    inside = (head < heads)[:, None]
    line = query + head.to(tl.int64)[:, None] * head_stride
    latent = tl.load(line + tl.arange(0, _LATENT)[None, :], mask=inside, other=0.0)
    rope = tl.load(line + _LATENT + tl.arange(0, _ROPE)[None, :], mask=inside, other=0.0)
    down = tl.full((head_tile,), 1.0, tl.float32)
    if latent.dtype == tl.bfloat16:
        latent = latent.to(tl.float32)
        rope = rope.to(tl.float32)
        largest = tl.maximum(tl.max(tl.abs(latent), 1), tl.max(tl.abs(rope), 1))
        exponent = tl.maximum(largest.to(tl.int32, bitcast=True) >> 23, 15)
        up = ((268 - exponent) << 23).to(tl.float32, bitcast=True)
        down = ((exponent - 14) << 23).to(tl.float32, bitcast=True)
        latent = latent * up[:, None]
        rope = rope * up[:, None]
    even, odd = tl.split(tl.reshape(latent.to(products), (head_tile, _HALF, 2)))
    # In base 2, because the hardware's exponential is.
    return tl.trans(even), tl.trans(odd), tl.trans(rope.to(products)), down * (scale * _LOG2_E)


@triton.jit
def _attend_entries(
    asked: tl.tuple,
    entries: tl.tuple,
    block_tokens: tl.constexpr,
    head_tile: tl.constexpr,
    row_tile: tl.constexpr,
    paged: tl.constexpr,
    conversions: tl.constexpr,
    products: tl.constexpr,
) -> tl.tuple:
    """Return the highest score, the sum of weights and those of weighted even and odd latent values, by head."""
    even, odd, rope, score_scale = asked
    _, begin, end, _, _, _, _ = entries
    top = tl.full((head_tile,), float("-inf"), tl.float32)
    total = tl.zeros((head_tile,), tl.float32)
    sum_even = tl.zeros((_HALF, head_tile), tl.float32)
    sum_odd = tl.zeros((_HALF, head_tile), tl.float32)

    # One tile of rows is in use, the next one's bytes are on their way, and the third one's addresses are known. That
    # the tile in use comes from the iteration before is also what makes Triton 3.9 put it into shared memory once,
    # for all its products; computed in the same iteration, it would go through registers for each.
    entry = begin + tl.arange(0, row_tile)
    row, chosen = _locate(entries, entry, block_tokens, paged)
    key_even, key_odd, key_rope = _unpack(*_load(row, chosen), row_tile, conversions, products)
    row, chosen_next = _locate(entries, entry + row_tile, block_tokens, paged)
    for first in tl.range(begin, end, row_tile):
        packed, rope_octets, scale_octets = _load(row, chosen_next)
        entry = first + 2 * row_tile + tl.arange(0, row_tile)
        row, chosen_later = _locate(entries, entry, block_tokens, paged)
        # Rows by heads, not heads by rows: 16 heads would leave three quarters of a 64-row wgmma empty.
        score = tl.dot(key_even, even, input_precision="ieee")
        score = tl.dot(key_odd, odd, score, input_precision="ieee")
        score = tl.dot(key_rope, rope, score, input_precision="ieee")
        score = tl.where(chosen[:, None], score * score_scale[None, :], float("-inf"))
        weight, shrink, top, total = _weigh(score, top, total)
        weight = weight.to(products)
        sum_even = tl.dot(tl.trans(key_even), weight, sum_even * shrink[None, :], input_precision="ieee")
        sum_odd = tl.dot(tl.trans(key_odd), weight, sum_odd * shrink[None, :], input_precision="ieee")
        key_even, key_odd, key_rope = _unpack(packed, rope_octets, scale_octets, row_tile, conversions, products)
        chosen = chosen_next
        chosen_next = chosen_later
    return top, total, sum_even, sum_odd


@triton.jit
def _store(out: tl.tensor, lse: tl.tensor, at: tl.tensor, inside: tl.tensor, found: tl.tuple) -> None:
    """Store a program's heads, normalized."""
    top, total, sum_even, sum_odd = found
    # A total of zero says that no row was selected; a NaN in a row must stay one.
    factor = 1.0 / tl.where(total == 0, 1.0, total)
    value = tl.interleave(tl.trans(sum_even * factor[None, :]), tl.trans(sum_odd * factor[None, :]))
    place = out + at[:, None] * _LATENT + tl.arange(0, _LATENT)[None, :]
    tl.store(place, value.to(out.dtype.element_ty), mask=inside[:, None])
    tl.store(lse + at, _log_sum(top, total), mask=inside)


@triton.jit
def _weigh(score: tl.tensor, top: tl.tensor, total: tl.tensor) -> tl.tuple:
    """Return the rows' weights, what earlier sums shrink by, and the highest score and the sum of weights so far."""
    highest = tl.maximum(top, tl.max(score, 0))
    # No row so far: any finite number does, and minus infinity would make NaN of the differences.
    base = tl.where(highest == float("-inf"), 0.0, highest)
    weight = tl.exp2(score - base[None, :])
    shrink = tl.exp2(top - base)
    return weight, shrink, highest, total * shrink + tl.sum(weight, 0)


@triton.jit
def _log_sum(top: tl.tensor, total: tl.tensor) -> tl.tensor:
    """Return the natural logarithm of `total * 2 ** top`, minus infinity where the total is zero."""
    return tl.where(total == 0, float("-inf"), (top + tl.log2(tl.where(total == 0, 1.0, total))) * _LN_2)


@triton.jit
def _end(line: tl.tensor, begin: tl.tensor, end: tl.tensor) -> tl.tensor:
    """Return where the last filled entry ends, `begin` without any: a short context fills the front alone."""
    last = begin
    for first in tl.range(begin, end, _ENTRIES_AT_ONCE):
        entry = first + tl.arange(0, _ENTRIES_AT_ONCE)
        index = tl.load(line + entry, mask=entry < end, other=-1)
        last = tl.maximum(last, tl.max(tl.where(index >= 0, entry + 1, begin), 0))
    return last


@triton.jit
def _locate(entries: tl.tuple, entry: tl.tensor, block_tokens: tl.constexpr, paged: tl.constexpr) -> tl.tuple:
    """Return where each entry's row begins, and whether there is one."""
    line, _, end, cache, table, positions, block_stride = entries
    # Without a sign -1 is beyond all positions as well, and so is what a row of padding has where nobody wrote any.
    index = tl.load(line + entry, mask=entry < end, other=-1).to(tl.uint32, bitcast=True)
    chosen = index < positions.to(tl.uint32)
    block = index // block_tokens
    if paged:
        block = tl.load(table + block, mask=chosen, other=-1)
        chosen = chosen & (block >= 0)
    return cache + block.to(tl.int64) * block_stride + index % block_tokens * _ROW, chosen


@triton.jit
def _load(row: tl.tensor, chosen: tl.tensor) -> tl.tuple:
    """Return the rows' latent, RoPE and scale bytes; none is read, and all are zero, where no row is chosen."""
    row = row[:, None]
    chosen = chosen[:, None]
    packed = tl.load(row + tl.arange(0, _HALF)[None, :], mask=chosen, other=0)
    rope = tl.load(row + _ROPE_AT + tl.arange(0, _ROPE)[None, :], mask=chosen, other=0)
    scales = tl.load(row + _SCALES_AT + tl.arange(0, _SCALES)[None, :], mask=chosen, other=0)
    return packed, rope, scales


@triton.jit
def _unpack(
    packed: tl.tensor,
    rope: tl.tensor,
    scales: tl.tensor,
    rows: tl.constexpr,
    conversions: tl.constexpr,
    products: tl.constexpr,
) -> tl.tuple:
    """Return even and odd latent values and RoPE."""
    even, odd = unpack_latent(packed, scales, rows, conversions)
    return even.to(products), odd.to(products), from_e4m3(rope).to(products)
