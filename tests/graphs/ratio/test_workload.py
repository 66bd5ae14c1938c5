from itertools import pairwise

import pytest

from graphs.errors import Refusal
from graphs.ratio.workload import demand, described, lasting
from router.replay.generator import generate
from router.replay.runs import common_prefix
from router.replay.trace import Session, Trace, Turn

SMALL = Trace(
    "t",
    64,
    (
        Session("a", (Turn(128, 10, 0, 0, ((0, 2),)), Turn(200, 30, 5, 0, ((0, 3),)))),
        Session("b", (Turn(64, 20, 0, 0, ((0, 1),)), Turn(256, 20, 100, 0, ((0, 1), (9, 3))))),
    ),
)


def test_means_by_hand() -> None:
    found = demand(SMALL, None)
    assert (found.turns, found.prompt_tokens, found.output_tokens, found.think_s) == (2, 162, 20, 52.5)
    # Two blocks, one and the 8 tokens of an unfilled one, none, and three.
    new = [128, 72, 0, 192]
    assert found.new_tokens == sum(new) / 4
    assert found.context_new_tokens == (128 * 64 + 72 * (200 - 36) + 192 * (256 - 96)) / 4
    assert found.reuse_ratio == pytest.approx(1 - 98 / 162)


def test_waits_are_cut() -> None:
    assert demand(SMALL, 10).think_s == 7.5
    assert demand(SMALL, 0).think_s == 0


def test_described_sessions_have_the_means_that_are_asked() -> None:
    found = demand(described("turns=20,new=1000,context=50000,output=300,think=8", 300, seed=1), None)
    assert found.turns == 20
    for value, asked in ((found.prompt_tokens, 50_000), (found.output_tokens, 300), (found.think_s, 8)):
        assert value == pytest.approx(asked, rel=0.05)
    # Nothing is known of a session's first prompt, which is 40,500 tokens.
    assert found.new_tokens == pytest.approx((19 * 1_000 + 40_500) / 20, rel=0.05)


def test_described_sessions_grow_and_share_nothing() -> None:
    first, second = described("turns=3", 2, seed=0).sessions
    assert [len(first.turns), len(second.turns)] == [3, 3]
    for earlier, later in pairwise(first.turns):
        assert common_prefix(earlier.blocks, later.blocks) == earlier.input_tokens // 64
        assert later.input_tokens > earlier.input_tokens
    assert common_prefix(first.turns[0].blocks, second.turns[0].blocks) == 0
    assert described("turns=3", 2, seed=0).sessions[0] == first


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("turn=3", "'turn': did you mean 'turns'?"),
        ("agent", "'agent': did you mean 'agents'?"),
        ("turns", "turns: write NAME=NUMBER, 1 or more"),
        ("turns=0", "turns=0: write NAME=NUMBER, 1 or more"),
        ("think=-1", "think=-1: write NAME=NUMBER, 0 or more"),
        ("turns=5000", "turns are of one session: 2,000 at most"),
        ("output=1e12", "output=1e12: write NAME=NUMBER, 1 or more"),
        ("output=nan", "output=nan: write NAME=NUMBER, 1 or more"),
        ("new=100,output=200", "new counts the answer before it, so it is at least output"),
        ("context=1000", "context must be 36,600 or more"),
    ],
)
def test_what_cannot_be_described_is_one_line(text: str, says: str) -> None:
    with pytest.raises(Refusal) as caught:
        described(text, 2, 0)
    (problem,) = caught.value.problems
    assert problem.startswith(f"--workload {text}: ")
    assert says in problem


def test_sessions_are_repeated_with_blocks_of_their_own_until_they_last() -> None:
    found = lasting(SMALL, 5, 100, 0.1, think_cap_s=10, seed=0)
    # At 0.1 s a token, and 0.02 for each turn: twice 500 s of them.
    assert sum(9.04 if each.session_id[0] == "a" else 14.04 for each in found.sessions) >= 1_000
    assert len({each.session_id for each in found.sessions}) == len(found.sessions)
    blocks = [each.turns[0].blocks[0][0] for each in found.sessions if each.session_id[0] == "a"]
    assert sorted(blocks) == [12 * copy for copy in range(len(blocks))]


def test_no_more_is_taken_than_lasts_and_never_fewer_than_are_held() -> None:
    assert len(lasting(SMALL, 1, 1, 0.1, think_cap_s=10, seed=0).sessions) == 1
    assert len(lasting(SMALL, 7, 1, 0.1, think_cap_s=10, seed=0).sessions) == 7


def test_prompts_shorter_than_a_block_have_none_to_repeat() -> None:
    tiny = described("turns=1,new=1,context=10,output=1", 2, seed=0)
    assert len(lasting(tiny, 3, 1, 0.1, think_cap_s=None, seed=0).sessions) >= 3


def test_sub_agents_stay_behind_their_parents() -> None:
    trace = generate(80, 1)
    assert any(each.parent for each in trace.sessions)
    found = lasting(trace, 120, 10, 0.01, think_cap_s=1, seed=0)
    for earlier, later in pairwise(found.sessions):
        assert later.parent in {None, earlier.session_id, earlier.parent}
    assert sum(each.parent is None for each in found.sessions) >= 120
