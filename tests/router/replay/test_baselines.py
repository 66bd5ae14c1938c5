"""The policies of others: what each is known for."""

from collections import Counter
from collections.abc import Mapping, Sequence

import pytest

from router import Costs, Fleet, Policy, Router, Worker
from router.placement import NOTHING, Overlap, RouteRequest
from router.ranks import Rank
from router.replay.baselines import POLICIES
from router.replay.baselines.affinity_filter import AffinityFilter
from router.replay.baselines.cache_aware import CacheAware
from router.replay.baselines.dynamo_kv import DynamoAffinity, DynamoKv
from router.replay.baselines.hashing import ConsistentHash
from router.replay.baselines.load import LeastLoaded, Random
from router.replay.baselines.rotation import RoundRobin
from router.replay.baselines.ties import chance, cheapest
from router.residents import Residents
from router.views import DecodeView, RankView

RANKS = [Rank(1, number) for number in range(8)]
ENGINES = [Rank(100 + number) for number in range(4)]
FLEET = Fleet((Worker(1, 8, 768_000),), tuple(Worker(rank.worker_id, 1, 1_500_000) for rank in ENGINES))
PROMPT = 64_000
SHARED = 13_312
SESSIONS = [f"session-{number}" for number in range(64)]


def request(session: str = "s", device: Mapping[int, int] | None = None, name: str = "r") -> RouteRequest:
    overlaps = {RANKS[number]: Overlap(tokens) for number, tokens in (device or {}).items()}
    return RouteRequest(name, session=session, prompt_tokens=PROMPT, overlaps=overlaps)


def ranks(
    waiting: Sequence[int] = (0,) * 8, requests: Sequence[int] = (0,) * 8, held: Sequence[int] = (0,) * 8
) -> list[RankView]:
    views = []
    for rank, tokens, count, resident in zip(RANKS, waiting, requests, held, strict=True):
        residents = Residents(768_000)
        residents.use("other", resident, 0.0)
        views.append(RankView(rank, NOTHING, tokens, 0.0, 0.0, residents, count))
    return views


def engines(
    tokens: Sequence[int] = (0,) * 4, requests: Sequence[int] = (0,) * 4, kept: Sequence[int] = (0,) * 4
) -> list[DecodeView]:
    columns = zip(ENGINES, requests, tokens, kept, strict=True)
    return [DecodeView(rank, count, total, own, Residents(1_500_000)) for rank, count, total, own in columns]


def prefill(policy: Policy, asked: RouteRequest, views: Sequence[RankView], now_ms: float = 0.0) -> int:
    rank = policy.prefill(asked, views, None, now_ms).rank
    assert rank is not None
    return rank.dp_rank


def decode(policy: Policy, asked: RouteRequest, views: Sequence[DecodeView], now_ms: float = 0.0) -> int:
    rank = policy.decode(asked, views, None, now_ms).rank
    assert rank is not None
    return rank.worker_id - 100


# Every policy.


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_places_both_sides_within_the_fleet(name: str) -> None:
    router = Router(POLICIES[name](Costs(), 0))

    for session in SESSIONS:
        placement = router.place(request(session, name=session), FLEET, 0.0).placement
        assert placement.prefill in RANKS
        assert placement.decode in ENGINES


@pytest.mark.parametrize("name", POLICIES)
def test_equal_seeds_decide_alike(name: str) -> None:
    def placements() -> list[tuple[Rank | None, Rank | None]]:
        router = Router(POLICIES[name](Costs(), 3))
        placed = [router.place(request(session, name=session), FLEET, 0.0).placement for session in SESSIONS]
        return [(each.prefill, each.decode) for each in placed]

    assert placements() == placements()


@pytest.mark.parametrize("name", POLICIES)
def test_no_policy_fails_where_no_worker_lives(name: str) -> None:
    placement = Router(POLICIES[name](Costs(), 0)).place(request(), Fleet(), 0.0).placement

    assert placement.routing() == {}


def test_equal_places_are_all_taken_sooner_or_later() -> None:
    ties = chance(0)
    taken = {cheapest(zip(RANKS[:4], [1.0, 2.0, 1.0, 1.0], strict=True), ties) for _ in range(50)}

    assert taken == {RANKS[0], RANKS[2], RANKS[3]}


# In turn, at random, by load.


def test_round_robin_takes_each_place_in_turn() -> None:
    policy = RoundRobin()

    assert [prefill(policy, request(), ranks()) for _ in range(10)] == [0, 1, 2, 3, 4, 5, 6, 7, 0, 1]
    assert [decode(policy, request(), engines()) for _ in range(5)] == [0, 1, 2, 3, 0]


def test_random_spreads_evenly() -> None:
    policy = Random(0)
    counts = Counter(prefill(policy, request(), ranks()) for _ in range(1600))

    assert len(counts) == 8
    assert max(counts.values()) < 1.3 * 200


def test_least_loaded_counts_requests_and_not_their_length() -> None:
    policy = LeastLoaded(0)

    assert prefill(policy, request(), ranks(waiting=[1] * 7 + [900_000], requests=[2] * 7 + [1])) == 7
    assert decode(policy, request(), engines(tokens=[1, 1, 900_000, 1], requests=[2, 2, 1, 2])) == 2


# Dynamo's.


def test_kv_sends_every_new_session_to_the_rank_that_has_the_shared_prefix() -> None:
    policy = DynamoKv(0)

    assert {prefill(policy, request(session, {5: SHARED}), ranks()) for session in SESSIONS} == {5}


def test_kv_leaves_the_shared_prefix_once_more_work_than_it_is_worth_waits_there() -> None:
    policy = DynamoKv(0)

    def busy(tokens: int) -> list[RankView]:
        return ranks(waiting=[0] * 5 + [tokens, 0, 0])

    assert prefill(policy, request(device={5: SHARED}), busy(SHARED - 64)) == 5
    assert prefill(policy, request(device={5: SHARED}), busy(SHARED + 64)) != 5


def test_a_higher_credit_waits_longer_for_what_is_cached() -> None:
    views = ranks(waiting=[0] * 5 + [SHARED + 64, 0, 0])

    assert prefill(DynamoKv(0, credit=1.5), request(device={5: SHARED}), views) == 5


def test_kv_values_host_memory_at_three_quarters() -> None:
    asked = RouteRequest("r", prompt_tokens=PROMPT, overlaps={RANKS[0]: Overlap(0, 4000), RANKS[1]: Overlap(2999)})

    assert prefill(DynamoKv(0), asked, ranks()) == 0
    asked = RouteRequest("r", prompt_tokens=PROMPT, overlaps={RANKS[0]: Overlap(0, 4000), RANKS[1]: Overlap(3001)})
    assert prefill(DynamoKv(0), asked, ranks()) == 1


def test_kv_decodes_by_load_whatever_is_resident() -> None:
    assert decode(DynamoKv(0), request(), engines(tokens=[9, 9, 8, 9], kept=[PROMPT, 0, 0, 0])) == 2


def test_affinity_never_spills() -> None:
    policy = DynamoAffinity(0)
    bound = prefill(policy, request(), ranks()), decode(policy, request(), engines())
    waiting, tokens = [0] * 8, [0] * 4
    waiting[bound[0]], tokens[bound[1]] = 10_000_000, 10_000_000

    for turn in range(20):
        again = prefill(policy, request(), ranks(waiting), turn), decode(policy, request(), engines(tokens), turn)
        assert again == bound


def test_a_binding_slides_with_use_and_is_forgotten_when_idle() -> None:
    policy = DynamoAffinity(0, ttl_s=10.0)
    home = prefill(policy, request(), ranks(), 0.0)
    elsewhere = ranks(waiting=[1_000_000 if number == home else 0 for number in range(8)])

    assert [prefill(policy, request(), elsewhere, now) for now in (9_000.0, 18_000.0)] == [home, home]
    assert prefill(policy, request(), elsewhere, 28_001.0) != home


def test_a_session_whose_rank_is_gone_is_bound_anew() -> None:
    policy = DynamoAffinity(0)
    home = prefill(policy, request(), ranks())
    left = [view for view in ranks() if view.rank.dp_rank != home]

    moved = prefill(policy, request(), left)

    assert moved != home
    assert prefill(policy, request(), ranks()) == moved


# Consistent hashing.


def test_hashing_needs_no_memory_to_find_a_session_again() -> None:
    one, other = ConsistentHash(), ConsistentHash()
    placed = {session: prefill(one, request(session), ranks()) for session in SESSIONS}

    assert {session: prefill(other, request(session), ranks()) for session in reversed(SESSIONS)} == placed
    assert len(set(placed.values())) == 8


def test_only_the_sessions_of_a_rank_that_left_move() -> None:
    policy = ConsistentHash()
    before = {session: prefill(policy, request(session), ranks()) for session in SESSIONS}
    after = {session: prefill(policy, request(session), ranks()[:-1]) for session in SESSIONS}

    assert {session for session in SESSIONS if before[session] != after[session]} == {
        session for session in SESSIONS if before[session] == 7
    }


def test_hashing_ignores_load_unless_it_is_bounded() -> None:
    home = prefill(ConsistentHash(), request(), ranks())
    load = [10 if number == home else 1 for number in range(8)]

    assert prefill(ConsistentHash(), request(), ranks(requests=load)) == home
    assert prefill(ConsistentHash(1.25), request(), ranks(requests=load)) != home
    assert prefill(ConsistentHash(1.25), request(), ranks(requests=[2] * 8)) == home


def test_a_bounded_walk_ends_at_the_same_next_rank() -> None:
    policy = ConsistentHash(1.25)
    home = prefill(policy, request(), ranks())
    load = ranks(requests=[10 if number == home else 1 for number in range(8)])

    assert len({prefill(policy, request(), load) for _ in range(5)}) == 1


# SGLang's.


def test_cache_aware_follows_the_longest_match_above_its_threshold() -> None:
    policy = CacheAware(0)

    asked = request(device={2: int(0.4 * PROMPT), 3: int(0.5 * PROMPT)})
    assert prefill(policy, asked, ranks(requests=[0, 0, 0, 60, 0, 0, 0, 0])) == 3


def test_cache_aware_takes_the_smallest_cache_below_its_threshold() -> None:
    held = [9, 8, 7, 6, 5, 4, 3, 9]

    assert prefill(CacheAware(0), request(device={3: int(0.3 * PROMPT)}), ranks(held=held)) == 6


def test_cache_aware_drops_affinity_for_all_once_loads_are_far_apart() -> None:
    policy = CacheAware(0)
    asked = request(device={3: PROMPT})

    assert prefill(policy, asked, ranks(requests=[64, 64, 64, 64, 64, 64, 64, 0])) == 3
    assert prefill(policy, asked, ranks(requests=[65, 64, 64, 64, 64, 64, 64, 0])) == 7
    # Far apart in number but not in proportion.
    assert prefill(policy, asked, ranks(requests=[265, 264, 264, 264, 264, 264, 264, 200])) == 3


def test_cache_aware_decodes_at_the_less_loaded_of_two() -> None:
    policy = CacheAware(0)
    counts = Counter(decode(policy, request(), engines(requests=[0, 1, 2, 3])) for _ in range(200))

    assert counts[3] == 0
    assert counts[0] > counts[1] > counts[2] > 0


# llm-d's.


def test_the_filter_keeps_those_that_have_most_of_the_prompt_and_takes_the_least_loaded() -> None:
    policy = AffinityFilter(Costs(), 0)
    asked = request(device={1: int(0.8 * PROMPT), 2: PROMPT, 3: int(0.79 * PROMPT)})

    assert prefill(policy, asked, ranks(waiting=[0, 5_000, 9_000, 0, 0, 0, 0, 0])) == 1


def test_the_gate_lets_go_once_the_sticky_ranks_are_18_seconds_behind() -> None:
    costs = Costs(prefill_token_us=100.0, context_token_ns=0.0, step_ms=0.0)
    policy = AffinityFilter(costs, 0)
    asked = request(device={1: PROMPT})

    assert prefill(policy, asked, ranks(waiting=[0, 180_000, 0, 0, 0, 0, 0, 0])) == 1
    assert prefill(policy, asked, ranks(waiting=[0, 180_001, 0, 0, 0, 0, 0, 0])) != 1


def test_without_a_match_the_filter_leaves_the_choice_to_load() -> None:
    policy = AffinityFilter(Costs(), 0)

    assert prefill(policy, request(device={1: SHARED}), ranks(waiting=[5, 5, 5, 5, 5, 5, 5, 4])) == 7


def test_the_filter_is_sticky_in_decode() -> None:
    policy = AffinityFilter(Costs(), 0)

    assert decode(policy, request(), engines(tokens=[9_000, 0, 0, 0], kept=[PROMPT, 0, 0, 0])) == 0
