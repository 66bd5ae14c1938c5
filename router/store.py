"""What a store behind all prefill ranks holds, by the router's own book.

Dynamo's index does not see such a store of vLLM's (Mooncake): its blocks are in no KV event. But who writes to it is
the ranks, and of what they compute the router knows.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from router.placement import NOTHING, Overlap, RouteRequest
from router.ranks import Rank
from router.residents import Residents


class Store:
    """The sessions in a shared store that evicts the least recently used first.

    A session whose prompt has become shorter was rewritten by its client, and of the new prompt nothing is taken to be
    there. Nor is a prefix that a new session shares with others, so what is found is more than what is counted on.

    Args:
        tokens: Tokens of KV that it holds.
    """

    def __init__(self, tokens: int) -> None:
        self._residents = Residents(tokens)

    def use(self, session: str, prompt_tokens: int, now_ms: float) -> None:
        """Note that a session's prompt is computed: its KV is written there too."""
        self._residents.use(session, prompt_tokens, now_ms)

    def behind(self, request: RouteRequest, ranks: Iterable[Rank]) -> RouteRequest:
        """Return a request with what the store holds of it, for ranks of whose host tier the index knows nothing."""
        held = self._residents.kept(request.session)
        if not 0 < held <= request.prompt_tokens:
            return request
        return replace(request, overlaps={rank: _behind(request.overlaps.get(rank, NOTHING), held) for rank in ranks})


def _behind(overlap: Overlap, held: int) -> Overlap:
    return overlap if overlap.host else Overlap(overlap.device, max(0, held - overlap.device))
