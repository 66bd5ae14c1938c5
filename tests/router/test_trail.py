"""The fingerprints of prompts."""

import random
import time
from array import array

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from router.trail import HELD_BACK, STRIDE, WINDOW, follow

IDS = st.lists(st.integers(0, 2**32 - 1), max_size=3 * WINDOW)


def stream(length: int, seed: int = 0) -> list[int]:
    return random.Random(seed).choices(range(150_000), k=length)


@settings(deadline=None)
@given(shared=st.integers(0, 3 * STRIDE), first=IDS, second=IDS)
def test_prompts_share_fingerprints_exactly_as_far_as_they_share_tokens(
    shared: int, first: list[int], second: list[int]
) -> None:
    one, other = (stream(shared) + rest for rest in (first, second))
    trails = follow("scope", one), follow("scope", other)

    for length in {0, shared // 2, shared, min(len(one), len(other))}:
        alike = trails[0].fingerprint(length) == trails[1].fingerprint(length)
        assert alike == (one[:length] == other[:length])


def test_checkpoints_stand_at_every_stride() -> None:
    ids = stream(3 * STRIDE)

    assert [len(follow("s", ids[:n]).checkpoints) for n in (0, STRIDE - 1, STRIDE, 3 * STRIDE)] == [1, 1, 2, 4]


def test_two_scopes_have_nothing_in_common() -> None:
    ids = stream(2 * STRIDE)
    one, other = follow("one", ids), follow("other", ids)

    assert not set(one.checkpoints) & set(other.checkpoints)
    assert one.fingerprint(0) != other.fingerprint(0)
    assert one.tip != other.tip


def test_a_list_and_an_array_leave_the_same_trail() -> None:
    ids = stream(700)

    assert follow("s", ids).checkpoints == follow("s", array("I", ids)).checkpoints
    assert follow("s", ids).tip == follow("s", array("I", ids)).tip


@pytest.mark.parametrize("length", [0, 1, 2])
def test_the_last_token_is_held_back(length: int) -> None:
    trail = follow("s", stream(length))

    assert trail.length == max(0, length - HELD_BACK)
    assert trail.tip == trail.fingerprint(trail.length)


def test_a_tail_is_found_wherever_it_stands_and_only_whole() -> None:
    ids = stream(100)
    tail = follow("s", ids).tail
    window = ids[-WINDOW - HELD_BACK : -HELD_BACK]
    before, behind = stream(50, seed=1), stream(50, seed=2)

    assert follow("s", before + window + behind).repeats(tail, 0)
    assert follow("s", before + window + behind).repeats(tail, 50)
    assert follow("s", before + window).repeats(tail, 50)
    assert not follow("s", before + window + behind).repeats(tail, 51)
    assert not follow("s", before + window[:-1] + behind).repeats(tail, 0)
    assert not follow("s", before + window[::-1] + behind).repeats(tail, 0)


def test_a_prompt_shorter_than_a_window_has_no_tail() -> None:
    assert follow("s", stream(WINDOW)).tail is None
    assert follow("s", stream(WINDOW + HELD_BACK)).tail is not None
    assert not follow("s", stream(100)).repeats(None, 0)
    assert not follow("s", stream(WINDOW - 1)).repeats(1, 0)


def test_an_id_beyond_32_bits_is_refused() -> None:
    with pytest.raises(OverflowError):
        follow("s", [2**32])


def test_a_long_prompt_is_followed_in_about_a_millisecond() -> None:
    # 0.8 ms at the median on a busy machine; the bound leaves room for processors without SHA instructions.
    ids = array("I", stream(146_000))
    times = []
    for _ in range(20):
        start = time.perf_counter()
        follow("s", ids)
        times.append(time.perf_counter() - start)

    assert min(times) < 5e-3
