"""The book of a store that the index does not see, and what it is worth in a replay."""

import pytest

from router import Costs, Decision, Fleet, Overlap, Rank, Router, RouteRequest, Sticky, Store
from router.replay.cluster import Cluster, Load
from router.replay.generator import generate
from router.replay.measures import Measures
from router.replay.select import truncate
from router.replay.simulate import Replay

RANKS = [Rank(1, 0), Rank(1, 1)]
TIER = 4_000_000


def request(tokens: int = 50_000, **overlaps: Overlap) -> RouteRequest:
    found = {RANKS[int(name[1])]: overlap for name, overlap in overlaps.items()}
    return RouteRequest("r", session="s", prompt_tokens=tokens, overlaps=found)


def test_what_a_session_left_is_behind_every_rank() -> None:
    store = Store(1_000_000)
    store.use("s", 40_000, 0.0)

    overlaps = store.behind(request(r0=Overlap(30_000)), RANKS).overlaps

    assert overlaps == {RANKS[0]: Overlap(30_000, 10_000), RANKS[1]: Overlap(0, 40_000)}


def test_what_the_index_reports_of_a_host_tier_is_not_counted_twice() -> None:
    store = Store(1_000_000)
    store.use("s", 40_000, 0.0)

    assert store.behind(request(r0=Overlap(30_000, 5_000)), RANKS).overlaps[RANKS[0]] == Overlap(30_000, 5_000)


def test_a_session_that_the_store_has_evicted_is_not_there() -> None:
    store = Store(50_000)
    store.use("s", 40_000, 0.0)
    store.use("other", 50_000, 1.0)

    assert store.behind(request(), RANKS) == request()


def test_of_a_prompt_that_was_rewritten_nothing_is_counted_on() -> None:
    store = Store(1_000_000)
    store.use("s", 60_000, 0.0)

    assert store.behind(request(50_000), RANKS) == request(50_000)


class _Blind(Router):
    """A router whose index does not see the host tier."""

    def place(self, request: RouteRequest, fleet: Fleet, now_ms: float) -> Decision:
        seen = {rank: Overlap(overlap.device) for rank, overlap in request.overlaps.items() if overlap.device}
        blind = RouteRequest(request.request_id, "", request.session, request.prompt_tokens, seen)
        return super().place(blind, fleet, now_ms)


def replay(router: Router) -> Measures:
    cluster = Cluster(rank_kv_tokens=96_000, host_tokens=TIER)
    load = Load(spacing_s=0.2, think_cap_s=3.0)
    return Replay(truncate(generate(48, 7), 8), router, cluster, load, Costs()).run()


def test_with_the_book_a_hidden_store_is_worth_nearly_what_a_seen_one_is() -> None:
    prices = Costs(host_tokens=TIER)

    seen = replay(Router(Sticky(prices), prices))
    booked = replay(_Blind(Sticky(prices), prices, store=Store(TIER)))
    blind = replay(_Blind(Sticky(Costs()), Costs()))

    assert booked.reuse_ratio == pytest.approx(seen.reuse_ratio, abs=0.01)
    assert booked.rank_load_max_over_mean < seen.rank_load_max_over_mean + 0.05 < blind.rank_load_max_over_mean
    assert booked.ttft_ms[1] < 1.1 * seen.ttft_ms[1] < 0.9 * blind.ttft_ms[1]
