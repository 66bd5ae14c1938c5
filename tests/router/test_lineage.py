"""Sessions found by what their prompts repeat."""

import random
import tracemalloc
from array import array
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from router.lineage import KEPT, TWINS, Lineage, Match
from router.trail import STRIDE, follow

from .conftest import Converse

NEVER = 150_001
"""A token that no prompt of these tests holds by chance."""

LONG_RESULT = "def parse(line):\n    return line.split()\n" * 80


def stream(length: int, seed: int = 0) -> list[int]:
    return random.Random(seed).choices(range(150_000), k=length)


class Seen:
    """A lineage, and a request's way through it."""

    def __init__(self, capacity: int = 10_000) -> None:
        self.lineage = Lineage(capacity)

    def match(self, prompt: Sequence[int], scope: str = "scope") -> Match:
        return self.lineage.match(follow(scope, prompt))

    def turn(self, prompt: Sequence[int], scope: str = "scope") -> tuple[str, Match]:
        """Return the key under which the prompt is recorded, and how it was found."""
        trail = follow(scope, prompt)
        match = self.lineage.match(trail)
        key = match.session if match.relation == "continues" and match.session else self.lineage.open(trail)
        self.lineage.record(key, trail)
        return key, match


def check(lineage: Lineage) -> None:
    """The tables hold what the sessions are known by, and nothing else."""
    known = [(key, session, tip) for key, session in lineage._sessions.items() for tip in session.tips]
    assert set(lineage._tips) == {tip.fingerprint for _, _, tip in known}
    assert all(lineage._tips[tip.fingerprint] is tip for _, _, tip in known)
    for key, session, tip in known:
        assert (key in tip.here) == (tip is session.tips[-1])
        assert (key in tip.past) == (tip is not session.tips[-1])
    assert all(len(session.tips) <= KEPT for session in lineage._sessions.values())
    assert sum(len(tip.here) + len(tip.past) for tip in lineage._tips.values()) == len(known)
    assert set(lineage._stretches) == {tip.checkpoint for tip in lineage._tips.values()}
    counted = sum(sum(stretch.lengths.values()) for stretch in lineage._stretches.values())
    assert counted == len(lineage._tips)


PROMPTS = st.builds(
    lambda stem, shared, rest: stream(shared, seed=stem) + rest,
    st.integers(0, 1),
    st.sampled_from([0, 1, 2, 20, STRIDE - 1, STRIDE, STRIDE + 1, 2 * STRIDE + 7]),
    st.lists(st.integers(0, 3), min_size=2, max_size=4),
)


@settings(deadline=None)
@given(prompts=st.lists(PROMPTS, min_size=1, max_size=8), appended=st.lists(st.integers(0, 3), min_size=1))
def test_a_prompt_that_anything_was_appended_to_continues_its_session(
    prompts: list[list[int]], appended: list[int]
) -> None:
    seen = Seen()
    last = {}
    for prompt in prompts:
        key, _ = seen.turn(prompt)
        last[key] = prompt

    for prompt in last.values():
        match = seen.match([*prompt[:-1], NEVER, *appended])
        assert match.relation == "continues"
        assert match.shared == len(prompt) - 1
        assert match.session is not None
        assert last[match.session][:-1] == prompt[:-1]


@settings(deadline=None)
@given(prompts=st.lists(PROMPTS, max_size=8), appended=PROMPTS)
def test_no_prompt_is_found_in_another_scope(prompts: list[list[int]], appended: list[int]) -> None:
    seen = Seen()
    for prompt in prompts:
        seen.turn(prompt, scope="one")

    for prompt in prompts:
        assert seen.match(prompt + appended, scope="other") == Match("new")


@settings(deadline=None)
@given(
    turns=st.lists(st.tuples(st.sampled_from(["", "a", "b"]), PROMPTS), max_size=30),
    capacity=st.integers(1, 4),
)
def test_the_tables_stay_whole_and_bounded(turns: list[tuple[str, list[int]]], capacity: int) -> None:
    seen = Seen(capacity)
    for named, prompt in turns:
        if named:
            seen.lineage.record(named, follow("scope", prompt))
        else:
            seen.turn(prompt)
        assert len(seen.lineage) <= capacity
        check(seen.lineage)


def test_matching_changes_nothing() -> None:
    seen = Seen(capacity=2)
    seen.turn(stream(600))
    seen.turn(stream(600, seed=1))

    for _ in range(3):
        assert seen.match([*stream(600), 1, 2]).relation == "continues"
    seen.turn(stream(600, seed=2))

    assert seen.match([*stream(600), 1, 2]) == Match("new")


def test_the_session_seen_longest_ago_is_forgotten_first() -> None:
    seen = Seen(capacity=2)
    first, _ = seen.turn(stream(600))
    second, _ = seen.turn(stream(600, seed=1))
    seen.turn([*stream(599), 1, 2, 3])
    seen.turn(stream(600, seed=2))

    assert first in seen.lineage
    assert second not in seen.lineage


@pytest.mark.parametrize("prompt", [[], [7]])
def test_a_prompt_of_a_token_or_none_is_nobodys(prompt: list[int]) -> None:
    seen = Seen()

    key, match = seen.turn(prompt)

    assert match == Match("new")
    assert key not in seen.lineage
    assert seen.match([7, 8, 9]) == Match("new")


def test_a_session_that_somebody_named_is_found_by_its_prompts() -> None:
    seen = Seen()
    seen.lineage.record("named", follow("scope", stream(5000)))

    assert seen.match([*stream(4999), 1, 2]) == Match("continues", "named", 4999)


def test_a_named_session_may_start_over() -> None:
    seen = Seen()
    for length in (600, 900, 1200):
        seen.lineage.record("named", follow("scope", stream(length)))
    seen.lineage.record("named", follow("scope", stream(700, seed=1)))

    assert seen.match([*stream(1199), 1, 2]) == Match("new")
    assert seen.match([*stream(699, seed=1), 1, 2]).session == "named"
    check(seen.lineage)


def test_a_named_session_back_at_its_opening_starts_over() -> None:
    seen = Seen()
    for length in (600, 1200, 600):
        seen.lineage.record("named", follow("scope", stream(length)))

    assert seen.match([*stream(1199), 1, 2]) == Match("continues", "named", 599)
    check(seen.lineage)


def test_what_a_session_left_behind_when_it_started_over_is_not_its_own() -> None:
    seen = Seen()
    for name in ("other", "named"):
        for length in (600, 1500):
            seen.lineage.record(name, follow("scope", stream(length)))
    seen.lineage.record("named", follow("scope", stream(700, seed=1)))

    assert seen.match([*stream(1100), *stream(100, seed=2)]).session == "other"


def test_an_earlier_turn_asked_again_continues_its_session() -> None:
    seen = Seen()
    first, _ = seen.turn(stream(600))
    for length in (1500, 3000, 4500):
        seen.turn(stream(length))

    assert seen.turn(stream(1500)) == (first, Match("continues", first, 1499))
    check(seen.lineage)


def test_of_waiting_twins_the_one_that_spoke_last_goes_on() -> None:
    seen = Seen()
    keys = [seen.turn(stream(600))[0] for _ in range(3)]

    assert [seen.turn([*stream(599), turn, NEVER])[0] for turn in range(3)] == keys[::-1]


def test_a_session_takes_four_kilobytes_whatever_its_length() -> None:
    lineage = Lineage()
    count = 200
    generator = np.random.default_rng(0)
    tracemalloc.start()
    try:
        for session in range(count):
            history = generator.integers(0, 150_000, 7 * STRIDE, dtype=np.uint32)
            for turn in range(2, 7):
                lineage.record(f"{session:016x}", follow("scope", array("I", history[: turn * STRIDE].tobytes())))
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert len(lineage) == count
    assert taken / count <= 4200


# What agents do, in the model's own format.


@pytest.mark.parametrize("thinking", [True, False])
@pytest.mark.parametrize("reasoning", [None, "The file has what I need, so I read it."])
def test_turns_with_tools_continue_whether_reasoning_is_sent_back_or_not(
    converse: Converse, *, thinking: bool, reasoning: str | None
) -> None:
    seen = Seen()
    chat = converse("Fix the parser.", enable_thinking=thinking)
    first, opening = seen.turn(chat.prompt())
    assert opening == Match("new")

    for number in range(12):
        before = len(chat.prompt())
        chat.call(f"src/{number}.py", LONG_RESULT if number % 2 else "ok", reasoning)
        key, match = seen.turn(chat.prompt())
        assert (key, match) == (first, Match("continues", first, before - 1))
    chat.answer("Done.", "Now the tests.", reasoning)
    assert seen.turn(chat.prompt())[0] == first


def test_a_prompt_asked_twice_continues_its_session(converse: Converse) -> None:
    seen = Seen()
    chat = converse("Fix the parser.")
    first, _ = seen.turn(chat.prompt())
    chat.call("a.py", LONG_RESULT)
    seen.turn(chat.prompt())

    assert seen.turn(chat.prompt())[0] == first
    assert len(seen.lineage) == 1


def test_reasoning_that_the_template_drops_at_the_next_question_breaks_no_session(converse: Converse) -> None:
    seen = Seen()
    chat = converse("Fix the parser.", clear_thinking=True)
    opening = len(chat.prompt())
    first, _ = seen.turn(chat.prompt())
    for question in ("Now the tests.", "And the manual.", "Thanks, one more thing."):
        for number in range(3):
            chat.call(f"src/{number}.py", LONG_RESULT + question, f"Step {number} is to read on. " * 9)
            assert seen.turn(chat.prompt())[0] == first
        chat.answer("Done.", question, "Nothing is left to do here. " * 9)
        key, match = seen.turn(chat.prompt())
        assert (key, match.relation) == (first, "continues")
        assert match.shared >= opening - 1


def test_clearing_old_tool_results_breaks_no_session(converse: Converse) -> None:
    seen = Seen()
    chat = converse("Fix the parser.")
    first, _ = seen.turn(chat.prompt())
    for number in range(8):
        chat.call(f"src/{number}.py", LONG_RESULT + str(number))
        seen.turn(chat.prompt())
    chat.messages[3]["content"] = "[cleared]"
    chat.call("src/last.py", LONG_RESULT)

    assert seen.turn(chat.prompt())[0] == first


def test_an_end_that_is_never_sent_again_breaks_no_session(converse: Converse) -> None:
    seen = Seen()
    chat = converse("Fix the parser.")
    first, _ = seen.turn(chat.prompt())
    for number in range(6):
        chat.call(f"src/{number}.py", LONG_RESULT + str(number))
        reminded = chat.copy()
        reminded.messages[-1]["content"] += f"<reminder>{9 - number} steps are left, then stop.</reminder>"
        assert seen.turn(reminded.prompt())[0] == first


def test_a_compaction_that_keeps_the_task_forks_and_one_that_keeps_only_the_harness_is_new(converse: Converse) -> None:
    seen = Seen()
    chat = converse("Fix the parser.")
    opening = len(chat.prompt())
    first, _ = seen.turn(chat.prompt())
    for number in range(4):
        chat.call(f"src/{number}.py", LONG_RESULT)
        seen.turn(chat.prompt())
    asked = chat.copy().answer("I have read all.", "Sum up the conversation so far.")
    assert seen.turn(asked.prompt())[0] == first

    kept = chat.copy()
    kept.messages[2:] = [{"role": "assistant", "content": "Summary: four files read."}]
    kept.messages.append({"role": "user", "content": "Go on."})
    key, match = seen.turn(kept.prompt())
    assert match == Match("forks", first, opening - 1)
    assert key != first
    assert seen.turn(kept.call("src/5.py", LONG_RESULT).prompt())[0] == key

    bare = converse("This conversation goes on from another: four files were read.")
    assert seen.match(bare.prompt()) == Match("new")


def test_a_short_turn_asked_anew_continues_its_session(converse: Converse) -> None:
    seen = Seen()
    chat = converse("Fix the parser.")
    first, _ = seen.turn(chat.prompt())
    seen.turn(chat.call("a.py", LONG_RESULT).prompt())
    other = chat.copy().answer("I would rewrite it.", "No, leave it as it is.")
    seen.turn(chat.answer("I would rewrite it.", "Yes, do so.").prompt())

    assert seen.turn(other.prompt())[0] == first


def test_turns_taken_back_are_a_fork(converse: Converse) -> None:
    seen = Seen()
    chat = converse("Fix the parser.")
    first, _ = seen.turn(chat.prompt())
    chat.call("a.py", LONG_RESULT)
    seen.turn(chat.prompt())
    shared = len(chat.prompt()) - 1
    other = chat.copy().answer("I would rewrite it.", "No, leave it as it is.")
    seen.turn(chat.answer("I would rewrite it.", "Yes, do so.").prompt())
    seen.turn(chat.call("b.py", LONG_RESULT).prompt())

    key, match = seen.turn(other.prompt())

    assert match.relation == "forks"
    assert match.session == first
    assert match.shared >= shared
    assert key != first


def test_sub_agents_and_sessions_of_one_harness_are_told_apart(converse: Converse) -> None:
    seen = Seen()
    tasks = ["Fix the parser.", "Fix the parser. Please.", "Fix", *(f"Look for {n} in the tests." for n in range(20))]
    chats = [converse(task) for task in tasks]
    keys = []
    for chat in chats:
        key, match = seen.turn(chat.prompt())
        assert match == Match("new")
        keys.append(key)
    assert len(set(keys)) == len(chats)

    turns = [index for index in range(len(chats)) for _ in range(6)]
    random.Random(0).shuffle(turns)
    for index in turns:
        chats[index].call("a.py", "the same result for everybody")
        assert seen.turn(chats[index].prompt())[0] == keys[index]


def test_sub_agents_over_their_parents_history_fork_and_the_parent_goes_on(converse: Converse) -> None:
    seen = Seen()
    parent = converse("Fix the parser.")
    first, _ = seen.turn(parent.prompt())
    parent.call("a.py", LONG_RESULT)
    seen.turn(parent.prompt())
    shared = len(parent.prompt()) - 1
    children = [parent.copy().call(f"agent {n}", f"{LONG_RESULT}You are sub-agent {n}.") for n in range(4)]

    keys = []
    for child in children:
        key, match = seen.turn(child.prompt())
        assert match.session == first
        assert match.shared >= shared
        keys.append(key)
    # Nothing in tokens tells the first child from the parent's own next turn.
    assert keys[0] == first
    assert len(set(keys)) == 4

    key, match = seen.turn(parent.call("agents", "All four have reported.").prompt())
    assert match.relation == "forks"
    assert match.session in keys
    for number, child in enumerate(children):
        assert seen.turn(child.call("b.py", LONG_RESULT).prompt())[0] == keys[number]
    assert seen.turn(parent.call("c.py", LONG_RESULT).prompt())[0] == key


def test_twins_go_on_as_two_sessions(converse: Converse) -> None:
    seen = Seen()
    one, other = converse("Fix the parser."), converse("Fix the parser.")
    keys = {seen.turn(one.prompt())[0], seen.turn(other.prompt())[0]}
    assert len(keys) == 2

    one.call("a.py", "one result", "I begin with a.")
    other.call("b.py", "another result", "I begin with b.")
    first, second = seen.turn(one.prompt())[0], seen.turn(other.prompt())[0]
    assert {first, second} == keys
    for number in range(4):
        assert seen.turn(one.call(f"{number}.py", "one result").prompt())[0] == first
        assert seen.turn(other.call(f"{number}.py", "another result").prompt())[0] == second


def test_a_twin_that_opens_when_the_other_has_gone_on_is_a_session_of_its_own(converse: Converse) -> None:
    seen = Seen()
    one, other = converse("Fix the parser."), converse("Fix the parser.")
    first, _ = seen.turn(one.prompt())
    seen.turn(one.call("a.py", LONG_RESULT).prompt())

    second, match = seen.turn(other.prompt())

    assert match == Match("new")
    assert seen.turn(other.call("b.py", LONG_RESULT + "b").prompt())[0] == second
    assert seen.turn(one.call("c.py", LONG_RESULT).prompt())[0] == first


def test_twins_that_answer_alike_are_one_session_until_they_part(converse: Converse) -> None:
    seen = Seen()
    one, other = converse("Fix the parser."), converse("Fix the parser.")
    keys = {seen.turn(chat.prompt())[0] for chat in (one, other)}
    both = {seen.turn(chat.call("a.py", LONG_RESULT).prompt())[0] for chat in (one, other)}
    assert len(both) == 1
    assert both < keys

    kept = seen.turn(one.call("one.py", LONG_RESULT + "one", "I go on with one.").prompt())[0]
    parted, match = seen.turn(other.call("other.py", LONG_RESULT + "other", "I go on with the other.").prompt())

    assert {kept} == both
    assert (match.relation, match.session) == ("forks", kept)
    assert parted not in keys


def test_a_crowd_of_equal_openings_shares_a_bounded_number_of_sessions() -> None:
    seen = Seen()
    prompt = stream(1300)

    keys = [seen.turn(prompt)[0] for _ in range(3 * TWINS)]

    assert len(set(keys)) == len(seen.lineage) == TWINS
    assert keys[:TWINS] == keys[TWINS : 2 * TWINS] == keys[2 * TWINS :]
    going_on = {seen.turn([*prompt[:-1], turn, NEVER])[0] for turn in range(TWINS)}
    assert going_on == set(keys)
