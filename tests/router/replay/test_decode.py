"""A decode engine whose requests share its steps."""

import pytest

from router.costs import Costs
from router.replay.cache import PrefixCache
from router.replay.decode import Answer, DecodeEngine
from router.replay.prefixes import Prefixes

BLOCK = 64
COSTS = Costs(decode_step_ms=10.0, decode_request_us=2000.0)


def engine(slots: int = 64, blocks: int = 10_000) -> tuple[DecodeEngine, list[int]]:
    """Return an engine and a prompt of ten blocks."""
    tree = Prefixes()
    end = tree.insert([(0, 10)])
    tree.freeze()
    return DecodeEngine(PrefixCache(tree, blocks), BLOCK, slots, COSTS), tree.path(end)


def test_a_request_alone_gets_a_token_a_step() -> None:
    decoder, path = engine()

    assert decoder.admit(Answer(1, 640, 100), path, 50.0) == [1]
    assert decoder.next_finish_ms() == 50.0 + 100 * 10.0
    assert decoder.finish(1050.0) == ([1], [])
    assert decoder.next_finish_ms() is None


def test_every_request_slows_the_others_from_when_it_comes() -> None:
    decoder, path = engine()
    decoder.admit(Answer(1, 640, 100), path, 0.0)
    decoder.admit(Answer(2, 640, 100), path, 500.0)

    due = decoder.next_finish_ms()

    assert due is not None
    assert due == pytest.approx(500.0 + 50 * 12.0)
    assert decoder.finish(due) == ([1], [])
    # The other had 50 steps of two requests and has 50 of its own.
    assert decoder.next_finish_ms() == pytest.approx(1100.0 + 50 * 10.0)


def test_more_than_its_slots_wait_in_order() -> None:
    decoder, path = engine(slots=2)
    started = [decoder.admit(Answer(key, 640, 10 * key), path, 0.0) for key in (1, 2, 3, 4)]

    assert started == [[1], [2], [], []]
    assert decoder.running == 2
    due = decoder.next_finish_ms()
    assert due is not None
    assert decoder.finish(due) == ([1], [3])


def test_a_request_waits_until_memory_takes_it() -> None:
    decoder, path = engine(blocks=20)
    assert decoder.admit(Answer(1, 700, 100), path, 0.0) == [1]
    assert decoder.admit(Answer(2, 700, 50), path, 0.0) == []
    due = decoder.next_finish_ms()

    assert due == 1000.0
    assert decoder.finish(1000.0) == ([1], [2])


def test_a_request_larger_than_memory_runs_alone_rather_than_never() -> None:
    decoder, path = engine(blocks=5)

    assert decoder.admit(Answer(1, 640, 10), path, 0.0) == [1]


def test_a_prompt_is_held_for_the_next_turn() -> None:
    decoder, path = engine()
    assert decoder.held_tokens(path) == 0

    decoder.admit(Answer(1, 640, 10), path, 0.0)

    assert decoder.held_tokens(path) == 640


def test_nothing_is_finished_early() -> None:
    decoder, path = engine()
    decoder.admit(Answer(1, 640, 100), path, 0.0)

    assert decoder.finish(999.0) == ([], [])
