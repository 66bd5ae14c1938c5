"""What bringing one request's KV to a decode engine takes."""

from typing import Final

import msgspec

from components.kvcache.layouts import Cut, Layout
from graphs.memory.ladder import Engine, Ladder, kv_model

_BLOCK_TOKENS: Final = 64
_DEFAULT_LAYOUT: Final = Layout.LBNHC
"""vLLM 0.31's own for MLA, and the block size of its sparse MLA kernels."""

_PIECES: Final = (19_559, 1_940)
_TRANSFERS_MS: Final = (146.0, 78.0)
_MOVED_BYTES: Final = _PIECES[0] / 101 * 1_024 * 30_712
"""Prime Inference's two transfers in NVFP4 rows. Both are taken to have moved the same: blocks of 1,024 tokens in 101
regions each, 198,000 tokens on average, in rows that all layers together have 30,712 bytes of."""

PIECE_US: Final = (_TRANSFERS_MS[0] - _TRANSFERS_MS[1]) / (_PIECES[0] - _PIECES[1]) * 1e3
"""3.9 us for each piece more. The router's price, 2 us, is a round starting value that it corrects in service."""

TRANSFER_GB_S: Final = _MOVED_BYTES / (_TRANSFERS_MS[1] - _PIECES[1] * PIECE_US / 1e3) / 1e6
"""86 GB/s for what is left of the time, to each decode rank; the router begins with 40."""


class Transfer(msgspec.Struct, frozen=True):
    """One request's transfer to all ranks of a decode engine that keep it.

    Attributes:
        tokens: Of the request.
        ranks: Decode ranks that pull it, each all that it keeps.
        rank_bytes: Bytes that one of them pulls.
        pieces: Pieces that vLLM 0.31's `NixlConnector` cuts them into for one rank: a page of each layer and block.
        whole_pieces: Pieces where whole blocks are registered, as `NixlPushConnector` does, and 0.33's `NixlConnector`;
            the same where a layout keeps layers apart.
        rank_ms: Time of one rank by the published pair, in `pieces`; others pull at the same time.
        whole_rank_ms: The same in `whole_pieces`.
    """

    tokens: int
    ranks: int
    rank_bytes: int
    pieces: int
    whole_pieces: int
    rank_ms: float
    whole_rank_ms: float


def cut(engine: Engine, ladder: Ladder, *, whole_rows: bool) -> Cut:
    """Return how an engine's blocks fall into pieces, as whole ones or by layer."""
    settings = engine.settings
    layout = Layout(settings.kv_cache_layout) if settings.kv_cache_layout else _DEFAULT_LAYOUT
    return Cut(kv_model(engine), ladder.row, layout, settings.block_size or _BLOCK_TOKENS, whole_rows)


def transfer(engine: Engine, ladder: Ladder, tokens: int) -> Transfer | None:
    """Return the transfer of a request of that many tokens; None for an engine that pulls none."""
    settings = engine.settings
    if engine.role != "decode" or not any(each.nixl is not None for each in settings.connectors or ()):
        return None
    ranks = ladder.topology
    own_tokens = -(-tokens // ranks.decode_context)
    pages, whole = cut(engine, ladder, whole_rows=False), cut(engine, ladder, whole_rows=True)
    # A pipeline stage pulls its own layers, of each block a piece at least.
    moved = -(-pages.moved_bytes(own_tokens) // ranks.pipeline)
    pieces = -(-pages.pieces(own_tokens) // ranks.pipeline)
    whole_pieces = max(whole.blocks(own_tokens), -(-whole.pieces(own_tokens) // ranks.pipeline))
    return Transfer(
        tokens=tokens,
        ranks=ranks.kv_copies * ranks.decode_context * ranks.pipeline,
        rank_bytes=moved,
        pieces=pieces,
        whole_pieces=whole_pieces,
        rank_ms=_ms(moved, pieces),
        whole_rank_ms=_ms(moved, whole_pieces),
    )


def _ms(size_bytes: int, pieces: int) -> float:
    return size_bytes / TRANSFER_GB_S / 1e6 + pieces * PIECE_US / 1e3
