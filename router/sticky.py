"""The policy: prefix- and session-sticky, and let go where sticking costs more than moving.

A session goes where it costs least, all terms in ms of a rank's time: computing or fetching what is not there, waiting
behind work in hand, pushing other sessions' KV out of memory, and being ahead of ranks that wait in every step of a
data-parallel engine. It stays where it is unless another place is cheaper by a margin. A prompt that every session
shares weighs as little as computing it again, which is what it is worth.
"""

import math
import zlib
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from router.costs import Costs, Prices
from router.decision import Candidate, Choice, Terms
from router.placement import RouteRequest
from router.ranks import Rank
from router.residents import Reach, Residents
from router.views import DecodeView, RankView


class Weights(msgspec.Struct, frozen=True):
    """How much of each term counts; chosen by replay (`docs/router.md` has the ablation).

    Attributes:
        horizon_turns: Turns ahead over which a crowded memory is held against a rank.
        moved: How many times crowding counts where a session would move to: it makes others move in turn.
        return_age_s: Half of the sessions that will be back are back within this, s.
        wait: Share of the work in hand that counts where there is no host tier; the rest is borne for the sake of what
            is cached.
        balance: Share of a rank's lead over the mean that always counts.
        imbalance: Share of the lead beyond the tolerance that counts on top.
        tolerance: Lead over the mean that is nothing to worry about, as a share of the mean.
        stay: Margin of staying, as a share of what bringing the whole session elsewhere costs.
        half_life_s: After this time, half of a rank's past work is forgotten, s.
    """

    horizon_turns: float = 2.0
    moved: float = 2.0
    return_age_s: float = 30.0
    wait: float = 0.0
    balance: float = 0.1
    imbalance: float = 2.0
    tolerance: float = 0.1
    stay: float = 0.1
    half_life_s: float = 3600.0


class _Moment(NamedTuple):
    """What holds for all ranks at one decision.

    Attributes:
        now_ms: The time.
        ranks: How many there are.
        worked_ms: What all of them have done lately.
        waiting: Share of a wait that counts.
        lost_ms: What a token that is lost a turn costs.
        home: Where the session was last.
    """

    now_ms: float
    ranks: int
    worked_ms: float
    waiting: float
    lost_ms: float
    home: Rank | None


class Sticky:
    """The policy, with its prices and weights.

    Args:
        prices: What things cost.
        weights: How much of it counts.
    """

    def __init__(self, prices: Prices, weights: Weights | None = None) -> None:
        self._prices = prices
        self.weights = weights or Weights()

    @property
    def costs(self) -> Costs:
        """The prices in force."""
        return self._prices.costs

    def prefill(self, request: RouteRequest, views: Sequence[RankView], home: Rank | None, now_ms: float) -> Choice:
        """Choose a prefill rank; `home` is where the session was last, if that still lives."""
        moment = _Moment(
            now_ms,
            len(views),
            sum(view.worked_ms for view in views),
            _counted(self._waiting_share(), request.priority),
            self.weights.horizon_turns * self._bring_ms(1),
            home,
        )
        candidates = tuple(Candidate(view.rank, self._prefill_terms(request, view, moment)) for view in views)
        margin = self.weights.stay * self._bring_ms(request.prompt_tokens)
        return _choose(candidates, home, margin, request.session)

    def decode(self, request: RouteRequest, views: Sequence[DecodeView], home: Rank | None, now_ms: float) -> Choice:
        """Choose a decode engine; `home` is where the session's last answer was written."""
        candidates = tuple(Candidate(view.rank, self._decode_terms(request, view, now_ms)) for view in views)
        return _choose(candidates, home, self.weights.stay * self.costs.move_ms(request.prompt_tokens), request.session)

    def _prefill_terms(self, request: RouteRequest, view: RankView, moment: _Moment) -> Terms:
        costs, weights = self.costs, self.weights
        new = max(0, request.prompt_tokens - view.overlap.device - view.overlap.host)
        # Ranks march in steps of so many new tokens, whatever their context.
        share = costs.share_ms(new)
        mean = (moment.worked_ms + share) / moment.ranks
        lead = view.worked_ms + share - mean
        moves = moment.home not in {None, view.rank}
        return Terms(
            compute=costs.prefill_ms(new, request.prompt_tokens),
            move=costs.fetch_ms(view.overlap.host),
            wait=moment.waiting * view.waiting_ms,
            crowding=(weights.moved if moves else 1.0)
            * moment.lost_ms
            * self._crowded_out(request.prompt_tokens, request.session, view.residents, moment.now_ms),
            balance=weights.balance * lead + weights.imbalance * max(0.0, lead - weights.tolerance * mean),
        )

    def _crowded_out(self, tokens: int, session: str, residents: Residents, now_ms: float) -> float:
        """Return the tokens a turn that a session of this size will cost others by evictions here, or itself."""
        before, after = residents.reach(now_ms, tokens, session)
        return max(0.0, self._lost(after) - self._lost(before))

    def _lost(self, reach: Reach) -> float:
        """Return the tokens lost a turn where a memory reaches back only so far: those of sessions that are later."""
        if reach.age_ms == math.inf:
            return 0.0
        return reach.tokens / (1.0 + (reach.age_ms / 1e3 / self.weights.return_age_s) ** 2)

    def _waiting_share(self) -> float:
        """Return how much of a wait counts: in full as far as a host tier spares computing again what a move leaves."""
        borne = (1.0 - self.weights.wait) * self._bring_ms(1) / self.costs.prefill_ms(1, 1)
        return 1.0 - borne

    def _bring_ms(self, tokens: int) -> float:
        """What it costs to have tokens of a session where they are not."""
        compute = self.costs.prefill_ms(tokens, tokens)
        return min(compute, self.costs.fetch_ms(tokens)) if self.costs.host_tokens else compute

    def _decode_terms(self, request: RouteRequest, view: DecodeView, now_ms: float) -> Terms:
        costs = self.costs
        answer = request.max_tokens if request.max_tokens is not None else costs.answer_tokens
        answer = min(answer, costs.answer_tokens)
        more = costs.decode_ms(view.requests + 1) - costs.decode_ms(view.requests)
        lost = self._crowded_out(request.prompt_tokens, request.session, view.residents, now_ms)
        # What is lost is brought with a turn's new tokens, in a transfer that there is anyhow.
        a_piece = costs.move_ms(costs.piece_tokens) - costs.transfer_ms
        return Terms(
            compute=answer * costs.decode_ms(view.requests + 1),
            move=costs.move_ms(request.prompt_tokens - view.kept_tokens),
            wait=answer * view.requests * more,
            crowding=self.weights.horizon_turns * a_piece * lost / costs.piece_tokens,
        )


def _counted(share: float, priority: int) -> float:
    """Return how much of a wait counts: each level of priority halves what is borne for the sake of what is cached."""
    level = max(-4, min(4, priority))
    return 1.0 - (1.0 - share) * 0.5**level if level > 0 else share * 2.0**level


def _choose(candidates: tuple[Candidate, ...], home: Rank | None, margin_ms: float, session: str) -> Choice:
    if not candidates:
        return Choice()
    # Equal places are taken in an order of the session's own, else every frontend begins with the same one.
    turn = zlib.crc32(session.encode()) % len(candidates)
    order = [*candidates[turn:], *candidates[:turn]]
    best = min(order, key=lambda candidate: candidate.terms.total)
    stay = next((candidate for candidate in candidates if candidate.rank == home), None)
    if stay is not None and stay is not best and stay.terms.total - best.terms.total <= margin_ms:
        return Choice(stay.rank, "stayed", candidates, best.terms.total - stay.terms.total)
    others = [candidate.terms.total for candidate in candidates if candidate is not best]
    return Choice(best.rank, _reason(best, stay), candidates, min(others, default=best.terms.total) - best.terms.total)


def _reason(best: Candidate, stay: Candidate | None) -> str:
    """Return `new`, `home`, or what moved the session most."""
    if stay is None:
        return "new"
    if stay is best:
        return "home"
    gains = {name: getattr(stay.terms, name) - getattr(best.terms, name) for name in Terms.__struct_fields__}
    return f"moved-{max(gains, key=lambda name: gains[name])}"
