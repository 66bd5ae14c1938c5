"""What a policy sees of the places it may choose from."""

from collections.abc import Mapping
from typing import NamedTuple

from router.book import DecodeBook, RankBook
from router.costs import Costs
from router.foreign import Foreign
from router.placement import NOTHING, Overlap, RouteRequest
from router.ranks import Rank
from router.residents import Residents


class RankView(NamedTuple):
    """One prefill rank at the moment of a decision.

    Attributes:
        rank: Its name.
        overlap: What it has of the prompt, tokens.
        waiting_tokens: New tokens of requests placed there, by whomever, whose first token has not come.
        waiting_ms: Their compute, ms.
        worked_ms: Share of its steps that was placed there lately, by whomever, ms (`Costs.share_ms`); it fades.
        residents: The sessions in its memory.
        requests: Requests placed there, by whomever, whose first token has not come.
    """

    rank: Rank
    overlap: Overlap
    waiting_tokens: int
    waiting_ms: float
    worked_ms: float
    residents: Residents
    requests: int = 0


class DecodeView(NamedTuple):
    """One decode engine at the moment of a decision.

    Attributes:
        rank: Its name.
        requests: Requests placed there, by whomever, and not finished.
        tokens: Tokens of KV that those of the books hold.
        kept_tokens: What it still has of the session's last prompt and answer, tokens.
        residents: The sessions in its memory.
    """

    rank: Rank
    requests: int
    tokens: int
    kept_tokens: int
    residents: Residents


def rank_views(books: Mapping[Rank, RankBook], request: RouteRequest, costs: Costs, now_ms: float) -> list[RankView]:
    """Return what the books and the engines' figures say of the prefill ranks."""
    share, views = _new_share(books, now_ms), []
    for rank, book in books.items():
        others = book.others.at(now_ms)
        new_tokens, compute_ms = _waiting(others, share, costs)
        view = RankView(
            rank,
            _lasting(request.overlaps.get(rank, NOTHING), book, request.session),
            book.waiting_tokens + new_tokens,
            book.waiting_ms + compute_ms,
            costs.share_ms(book.work.at(now_ms) + book.foreign_work.at(now_ms)),
            book.residents,
            book.requests + others.requests,
        )
        views.append(view)
    return views


def decode_views(books: Mapping[Rank, DecodeBook], request: RouteRequest, now_ms: float) -> list[DecodeView]:
    """Return what the books and the engines' figures say of the decode engines."""
    return [
        DecodeView(
            rank,
            book.requests + book.others.at(now_ms).answering,
            book.tokens,
            book.residents.kept(request.session),
            book.residents,
        )
        for rank, book in books.items()
    ]


def _waiting(others: Foreign, new_share: float, costs: Costs) -> tuple[int, float]:
    """Return the new tokens of others' prompts that wait, and their compute, ms."""
    count = max(1, others.requests)
    new_tokens = round(new_share * others.prompt_tokens)
    return new_tokens, count * costs.prefill_ms(new_tokens // count, others.prompt_tokens // count)


def _new_share(books: Mapping[Rank, RankBook], now_ms: float) -> float:
    """Return the share of prompts that had to be computed lately: an engine says of those that wait only how long.

    Others' prompts are taken to be cached as those of the books are; until there are any, not at all.
    """
    asked = sum(book.asked.at(now_ms) for book in books.values())
    new = sum(book.work.at(now_ms) for book in books.values())
    return max(0.0, min(1.0, new / asked)) if asked else 1.0


def _lasting(overlap: Overlap, book: RankBook, session: str) -> Overlap:
    """Return the overlap less what the prompts that wait there already will have evicted when this one's turn comes."""
    if not book.waiting_tokens or session not in book.residents:
        return overlap
    kept = book.residents.kept(session)
    return overlap if kept >= overlap.device else Overlap(kept, overlap.host)
