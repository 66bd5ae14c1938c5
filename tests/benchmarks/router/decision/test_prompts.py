import numpy as np

from benchmarks.router.decision.prompts import NEW, SHARED, prompt, second


def test_a_session_has_the_same_prompt_in_every_process() -> None:
    assert np.array_equal(prompt(7, 9_000), prompt(7, 9_000))
    assert len(prompt(7, 9_000)) == 9_000


def test_sessions_share_what_all_prompts_begin_with_and_no_more() -> None:
    one, other = prompt(7, 9_000), prompt(8, 9_000)

    assert np.array_equal(one[:SHARED], other[:SHARED])
    assert np.mean(one[SHARED:] == other[SHARED:]) < 0.01


def test_a_second_turn_repeats_the_first_and_goes_on() -> None:
    first = prompt(7, 9_000)

    assert np.array_equal(second(first, 7)[:9_000], first)
    assert len(second(first, 7)) == 9_000 + NEW
