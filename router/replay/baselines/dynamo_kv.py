"""Dynamo's KV router, and its session affinity on top of it."""

from collections import OrderedDict
from collections.abc import Callable, Sequence

from router.decision import Choice
from router.placement import NOTHING, RouteRequest
from router.ranks import Rank
from router.replay.baselines.ties import chance, cheapest
from router.views import DecodeView, RankView

_HOST_CREDIT = 0.75
"""Dynamo's `host_cache_hit_weight`."""


class DynamoKv:
    """The least of the work in hand and this prompt, less a credit for what is cached; decode by load alone.

    Source: Dynamo 1.6.1, `--router-mode kv` with `dynamo-default-cost-fn` at its defaults (credit decay 0, load scale
    1, no shared cache, no weight on active requests, temperature 0, no queue), in tokens where Dynamo counts blocks of
    them, which is the same to a factor:

        cost = max(0, tokens in hand + prompt - credit * cached on device - 0.75 * cached in host memory)

    Work in hand is what was not cached of the prompts placed there, until their first token. In a graph with prefill
    engines of their own, decode has no credit and counts the tokens of all requests placed there and not finished.
    Left out: KV events that come late, the disk tier, and that decode is chosen when the prompt is computed.

    Args:
        seed: Of the ties.
        credit: Dynamo's `overlap_score_credit`.
    """

    def __init__(self, seed: int, credit: float = 1.0) -> None:
        self._ties = chance(seed)
        self._credit = credit

    def prefill(self, request: RouteRequest, views: Sequence[RankView], _home: Rank | None, _now: float) -> Choice:
        """Take a rank of the least cost."""
        return Choice(cheapest(((view.rank, self._cost(request, view)) for view in views), self._ties), "cost")

    def decode(self, _request: RouteRequest, views: Sequence[DecodeView], _home: Rank | None, _now: float) -> Choice:
        """Take an engine with the fewest tokens."""
        return Choice(cheapest(((view.rank, view.tokens) for view in views), self._ties), "load")

    def _cost(self, request: RouteRequest, view: RankView) -> float:
        overlap = request.overlaps.get(view.rank, NOTHING)
        credit = self._credit * overlap.device + _HOST_CREDIT * overlap.host
        return max(0.0, view.waiting_tokens + request.prompt_tokens - credit)


class DynamoAffinity:
    """Dynamo's KV router for a session's first turn; then the same two places for as long as the session lasts.

    Source: Dynamo 1.6.1, `--router-session-affinity-ttl-secs` in its default mode `hard`: a binding a phase, renewed by
    each use, and no way out of it, however long the queue; the hour is InferenceX's setting for GLM on one DEP8 prefill
    engine. Left out: a binding is made here when a place is chosen, not when the dispatch succeeded; requests to a
    bound worker that died fail in Dynamo for about 12 s, and are placed anew here.

    Args:
        seed: Of the router's ties.
        ttl_s: A binding that was not used for so long is forgotten, s.
    """

    def __init__(self, seed: int, ttl_s: float = 3600.0) -> None:
        self._router = DynamoKv(seed)
        self._prefill = _Bindings(ttl_s)
        self._decode = _Bindings(ttl_s)

    def prefill(self, request: RouteRequest, views: Sequence[RankView], home: Rank | None, now_ms: float) -> Choice:
        """Take the bound rank, or bind the session to the router's choice."""
        ranks = [view.rank for view in views]
        choose = self._router.prefill
        return self._prefill.choose(request.session, ranks, now_ms, lambda: choose(request, views, home, now_ms))

    def decode(self, request: RouteRequest, views: Sequence[DecodeView], home: Rank | None, now_ms: float) -> Choice:
        """Take the bound engine, or bind the session to the router's choice."""
        ranks = [view.rank for view in views]
        choose = self._router.decode
        return self._decode.choose(request.session, ranks, now_ms, lambda: choose(request, views, home, now_ms))


class _Bindings:
    """Where each session of one phase is bound, least recently used first."""

    def __init__(self, ttl_s: float) -> None:
        self._ttl_ms = ttl_s * 1e3
        self._bound: OrderedDict[str, tuple[Rank, float]] = OrderedDict()

    def choose(self, session: str, alive: Sequence[Rank], now_ms: float, anew: Callable[[], Choice]) -> Choice:
        self._expire(now_ms)
        rank, _ = self._bound.pop(session, (None, 0.0))
        choice = Choice(rank, "bound") if rank in alive else anew()
        if choice.rank is not None:
            self._bound[session] = (choice.rank, now_ms)
        return choice

    def _expire(self, now_ms: float) -> None:
        while self._bound:
            session, (_, used_ms) = next(iter(self._bound.items()))
            if now_ms - used_ms <= self._ttl_ms:
                return
            del self._bound[session]
