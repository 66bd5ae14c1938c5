"""Block ids as runs."""

import random

import pytest

from router.replay.runs import Seen, as_runs, common_prefix, joined, length, split


def test_consecutive_ids_become_one_run() -> None:
    assert as_runs([5, 6, 7, 2, 9, 10]) == ((5, 3), (2, 1), (9, 2))
    assert as_runs([]) == ()
    assert as_runs([4, 3]) == ((4, 1), (3, 1))


def test_runs_that_continue_each_other_are_joined_and_empty_ones_dropped() -> None:
    assert joined([(1, 2), (3, 4), (9, 0), (7, 1), (20, 1)]) == ((1, 7), (20, 1))


@pytest.mark.parametrize(
    ("blocks", "head", "tail"),
    [
        (0, (), ((1, 3), (8, 2))),
        (2, ((1, 2),), ((3, 1), (8, 2))),
        (3, ((1, 3),), ((8, 2),)),
        (4, ((1, 3), (8, 1)), ((9, 1),)),
        (9, ((1, 3), (8, 2)), ()),
    ],
)
def test_runs_are_parted_at_a_block(
    blocks: int, head: tuple[tuple[int, int], ...], tail: tuple[tuple[int, int], ...]
) -> None:
    assert split(((1, 3), (8, 2)), blocks) == (head, tail)


def test_a_common_prefix_is_counted_in_blocks_however_the_runs_are_cut() -> None:
    assert common_prefix(((1, 5), (9, 2)), ((1, 2), (3, 3), (9, 1), (40, 1))) == 6
    assert common_prefix(((1, 5),), ((1, 5), (6, 2))) == 5
    assert common_prefix(((2, 5),), ((1, 5),)) == 0
    assert common_prefix((), ((1, 5),)) == 0


def test_seen_counts_new_ids_as_a_plain_set_does() -> None:
    chance = random.Random(4)
    seen, plain = Seen(), set[int]()
    for _ in range(500):
        runs = [(chance.randrange(300), chance.randrange(1, 30)) for _ in range(chance.randrange(1, 4))]
        ids = [first + i for first, count in runs for i in range(count)]
        new = len(set(ids) - plain)
        plain.update(ids)
        assert seen.add(runs) == new
    assert length([(1, 4), (9, 1)]) == 5
