import random

import numpy as np
import pytest

from components.local.piece import Factors
from components.local.steering import Steering
from components.local.vocabulary import Part, Vocabulary


def seeded(seed: int) -> random.Random:
    return random.Random(seed)


def steering(vocabulary: Vocabulary, prompt: str, *, reasoning: bool = False, tools: bool = True) -> Steering:
    ids = vocabulary.tokenizer.encode(prompt, add_special_tokens=False).ids
    return Steering(vocabulary, ids, reasoning=reasoning, tools=tools, rng=seeded(0))


def after(vocabulary: Vocabulary, steering: Steering, text: str) -> Factors:
    for token in vocabulary.tokenizer.encode(text, add_special_tokens=False).ids:
        steering.observe(token)
    return steering.factors()


USER_TURN = "<|user|>Hello<|assistant|></think>"
RESULT_TURN = "<|user|>Hello<|assistant|><think></think><tool_call>f</tool_call><|observation|>x<|assistant|></think>"


def test_a_user_s_turn_with_tools_calls_one_before_it_ends(vocabulary: Vocabulary) -> None:
    factors = after(vocabulary, steering(vocabulary, USER_TURN), "The tests pass.")
    assert factors[Part.TOOL_CALL] > 1e6
    assert factors[Part.END] < 1e-6


@pytest.mark.parametrize(("prompt", "tools"), [(RESULT_TURN, True), (USER_TURN, False)])
def test_a_turn_after_results_or_without_tools_is_text(vocabulary: Vocabulary, prompt: str, tools: bool) -> None:
    factors = after(vocabulary, steering(vocabulary, prompt, tools=tools), "The tests pass.")
    assert factors[Part.TOOL_CALL] < 1e-6
    assert factors[Part.END] >= 1


def test_after_the_last_call_the_turn_ends(vocabulary: Vocabulary) -> None:
    factors = after(vocabulary, steering(vocabulary, RESULT_TURN), "<tool_call>f</tool_call>")
    assert factors[Part.END] > 1e6
    assert factors[Part.TOOL_CALL] < 1e-6


def test_about_a_quarter_of_the_calling_turns_call_twice(vocabulary: Vocabulary) -> None:
    ids = vocabulary.tokenizer.encode(USER_TURN, add_special_tokens=False).ids
    twice = 0
    for seed in range(200):
        turn = Steering(vocabulary, ids, reasoning=False, tools=True, rng=seeded(seed))
        twice += bool(after(vocabulary, turn, "<tool_call>f</tool_call>")[Part.TOOL_CALL] > 1)
    assert 25 < twice < 75


def test_reasoning_is_left_by_its_end_alone(vocabulary: Vocabulary) -> None:
    start = steering(vocabulary, USER_TURN, reasoning=True)
    short = after(vocabulary, start, "The user")
    long = after(vocabulary, start, " wants to know" * 20)
    assert long[Part.END_THINK] > 1e6 * short[Part.END_THINK]
    assert long[[Part.TOOL_CALL, Part.END]].max() < 1e-6


def test_text_ends_ever_more_urgently(vocabulary: Vocabulary) -> None:
    assert after(vocabulary, steering(vocabulary, RESULT_TURN), " and" * 80)[Part.END] > 1e6


def test_inside_a_call_only_its_own_markers_are_wanted(vocabulary: Vocabulary) -> None:
    turn = steering(vocabulary, USER_TURN)
    added = np.arange(Part.SPECIAL, len(Part))

    def wanted(text: str) -> set[Part]:
        return {Part(part) for part in added[after(vocabulary, turn, text)[Part.SPECIAL :] > 1e-6]}

    assert wanted("<tool_call>f") == {Part.ARG_KEY, Part.ARG_VALUE, Part.END_TOOL_CALL}
    assert wanted("<arg_key>path") == {Part.END_ARG_KEY}
    assert wanted("</arg_key><arg_value>src") == {Part.END_ARG_VALUE}
    assert wanted("</arg_value>") == {Part.ARG_KEY, Part.ARG_VALUE, Part.END_TOOL_CALL}
