"""The fleet, from what discovery shows."""

import pytest

from components.frontend.discovery import Card, Runtime
from components.frontend.fleet import UNKNOWN_KV_TOKENS, Roster
from components.frontend.health import Health
from router import Fleet, Worker

PREFILL = Card("glm", "prefill", 64, Runtime(1000, 8))
DECODE = Card("glm", "decode", 64, Runtime(2000))
WHOLE = Card("glm", "aggregated", 32, Runtime(None, 2))


class Workers:
    """An endpoint's discovery that says what it is told."""

    def __init__(self, **cards: Card | None) -> None:
        self.known = {int(name.removeprefix("w")): card for name, card in cards.items()}

    def ids(self) -> tuple[int, ...]:
        return tuple(sorted(self.known))

    def cards(self) -> dict[int, Card]:
        return {id_: card for id_, card in self.known.items() if card is not None}

    def addresses(self) -> dict[int, str]:
        return {id_: f"127.0.0.1:{id_}" for id_ in self.known}


def test_ranks_and_memory_come_from_each_workers_own_card() -> None:
    roster = Roster("glm", Workers(w1=PREFILL), Workers(w2=DECODE, w3=DECODE), Health())

    assert roster.fleet() == Fleet((Worker(1, 8, 64_000),), (Worker(2, 1, 128_000), Worker(3, 1, 128_000)))
    assert (roster.block_size, roster.aggregated) == (64, False)


def test_a_worker_of_a_second_node_has_the_ranks_that_its_card_says() -> None:
    second = Card("glm", "prefill", 64, Runtime(1000, 4, 4))
    roster = Roster("glm", Workers(w1=PREFILL, w2=second), Workers(w3=DECODE), Health())

    assert roster.fleet().prefill == (Worker(1, 8, 64_000), Worker(2, 4, 64_000, start_rank=4))


def test_the_fleet_is_the_same_object_until_something_changes() -> None:
    prefill, decode = Workers(w1=PREFILL), Workers(w2=DECODE)
    roster = Roster("glm", prefill, decode, Health())
    first = roster.fleet()

    assert roster.fleet() is first
    decode.known[3] = DECODE
    second = roster.fleet()
    assert second is not first
    assert len(second.decode) == 2
    assert roster.fleet() is second


def test_a_worker_joins_with_its_card() -> None:
    prefill = Workers(w1=None)
    roster = Roster("glm", prefill, Workers(w2=DECODE), Health())

    assert roster.fleet().prefill == ()
    prefill.known[1] = PREFILL
    assert [worker.worker_id for worker in roster.fleet().prefill] == [1]


def test_who_is_out_is_no_part_of_it_and_comes_back() -> None:
    health = Health()
    roster = Roster("glm", Workers(w1=PREFILL), Workers(w2=DECODE, w3=DECODE), health)
    whole = roster.fleet()

    health.exclude(2, "named", 0.0)
    assert [worker.worker_id for worker in roster.fleet().decode] == [3]
    health.tried(2, 0.0, answers=True)
    assert roster.fleet() == whole


def test_a_worker_that_leaves_discovery_is_gone_at_once_and_forgotten() -> None:
    health, decode = Health(), Workers(w2=DECODE, w3=DECODE)
    roster = Roster("glm", Workers(w1=PREFILL), decode, health)
    health.exclude(2, "named", 0.0)
    roster.fleet()

    del decode.known[2]

    assert [worker.worker_id for worker in roster.fleet().decode] == [3]
    assert not health.excluded


@pytest.mark.parametrize("out", [False, True])
def test_engines_that_do_both_are_the_side_that_prompts_are_placed_on(out: bool) -> None:
    health = Health()
    if out:
        health.exclude(2, "named", 0.0)
    roster = Roster("glm", Workers(), Workers(w2=WHOLE, w3=WHOLE), health)

    expected = [3] if out else [2, 3]
    assert roster.fleet() == Fleet(tuple(Worker(id_, 2, UNKNOWN_KV_TOKENS) for id_ in expected))
    assert (roster.aggregated, roster.block_size) == (True, 32)


def test_workers_of_another_model_do_not_count() -> None:
    other = Card("other", "decode", 64, Runtime(2000))

    assert Roster("glm", Workers(w1=PREFILL), Workers(w2=other), Health()).fleet().decode == ()
