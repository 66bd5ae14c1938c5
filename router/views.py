"""What a policy sees of the places it may choose from."""

from typing import NamedTuple

from router.placement import Overlap
from router.ranks import Rank
from router.residents import Residents


class RankView(NamedTuple):
    """One prefill rank at the moment of a decision.

    Attributes:
        rank: Its name.
        overlap: What it has of the prompt, tokens.
        waiting_tokens: New tokens of requests placed there whose first token has not come.
        waiting_ms: Their compute, ms.
        worked_ms: Share of its steps that was placed there lately, ms (`Costs.share_ms`); it fades.
        residents: The sessions in its memory.
        requests: Requests placed there whose first token has not come.
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
        requests: Requests placed there and not finished.
        tokens: Tokens of KV that they hold.
        kept_tokens: What it still has of the session's last prompt and answer, tokens.
        residents: The sessions in its memory.
    """

    rank: Rank
    requests: int
    tokens: int
    kept_tokens: int
    residents: Residents
