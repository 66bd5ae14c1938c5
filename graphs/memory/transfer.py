"""What bringing one request's KV to a decode engine takes."""

from typing import Final

import msgspec

from components.kvcache.layouts import Cut, Layout
from graphs.memory.ladder import Engine, Ladder, kv_model

_BLOCK_TOKENS: Final = 64
_DEFAULT_LAYOUT: Final = Layout.LBNHC
"""vLLM 0.31's own for MLA, and the block size of its sparse MLA kernels."""


class Transfer(msgspec.Struct, frozen=True):
    """One request's transfer to all ranks of a decode engine that keep it.

    Attributes:
        tokens: Of the request.
        ranks: Decode ranks that pull it, each all that it keeps.
        rank_bytes: Bytes that one of them pulls.
        pieces: Pieces that vLLM 0.31's `NixlConnector` cuts them into for one rank: a page of each layer and block.
        whole_pieces: Pieces where whole blocks are registered, as `NixlPushConnector` does, and 0.33's `NixlConnector`;
            the same where a layout keeps layers apart.
        rank_ms: Time of one rank by the router's default prices, in `pieces`; others pull at the same time.
    """

    tokens: int
    ranks: int
    rank_bytes: int
    pieces: int
    whole_pieces: int
    rank_ms: float


def transfer(engine: Engine, ladder: Ladder, tokens: int) -> Transfer | None:
    """Return the transfer of a request of that many tokens; None for an engine that pulls none."""
    from router.costs import Costs  # noqa: PLC0415 - every command imports this module, and no other needs the router.

    settings = engine.settings
    if engine.role != "decode" or not any(each.nixl is not None for each in settings.connectors or ()):
        return None
    layout = Layout(settings.kv_cache_layout) if settings.kv_cache_layout else _DEFAULT_LAYOUT
    ranks = ladder.topology
    own_tokens = -(-tokens // ranks.decode_context)

    def cut(*, whole_rows: bool) -> Cut:
        return Cut(kv_model(engine), ladder.row, layout, settings.block_size or _BLOCK_TOKENS, whole_rows)

    pages = cut(whole_rows=False)
    moved = pages.moved_bytes(own_tokens)
    prices = Costs()
    rank_ms = prices.transfer_ms + moved / prices.transfer_gb_s / 1e6 + pages.pieces(own_tokens) * prices.piece_us / 1e3
    return Transfer(
        tokens=tokens,
        ranks=ranks.kv_copies * ranks.decode_context,
        rank_bytes=moved,
        pieces=pages.pieces(own_tokens),
        whole_pieces=cut(whole_rows=True).pieces(own_tokens),
        rank_ms=rank_ms,
    )
