"""The recorded forms. All samples are made up by hand."""

import json
from typing import Any

import pytest

from router.replay.readers import read_compact, read_mooncake, read_weka
from router.replay.trace import Session, Trace, TraceError


def request(t: float, tokens: int, **fields: Any) -> dict[str, Any]:
    return {"t": t, "type": "n", "in": tokens, "out": 9, "think_time": 1.5, "api_time": 2.0} | fields


def document(name: str, requests: list[dict[str, Any]], **fields: Any) -> str:
    whole = {"id": name, "block_size": 10, "tool_tokens": 20, "system_tokens": 15, "requests": requests}
    return json.dumps(whole | fields)


def blocks(session: Session) -> list[list[int]]:
    return [[first + i for first, count in turn.blocks for i in range(count)] for turn in session.turns]


def by_name(trace: Trace) -> dict[str, Session]:
    return {session.session_id: session for session in trace.sessions}


ALICE = document("alice", [request(0, 57, blocks=[[1, 5]]), request(7, 72, type="s", blocks=[[1, 4], [9, 3]])])
BOB = document("bob", [request(100, 49, blocks=[[1, 4]], out=0), request(130, 61, blocks=[[70, 6]])])
CAROL = document("carol", [request(0, 50, blocks=[[1, 5]])], system_tokens=16)


def test_a_compact_session_keeps_lengths_waits_and_times() -> None:
    trace = read_compact([ALICE, "", BOB], "mine")

    assert (trace.name, trace.block_size) == ("mine", 10)
    alice, bob = trace.sessions
    assert [(t.input_tokens, t.output_tokens, t.think_s, t.start_s) for t in alice.turns] == [
        (57, 9, 0.0, 0.0),
        (72, 9, 1.5, 7.0),
    ]
    assert (alice.arrival_s, alice.parent) == (None, None)
    assert [(t.output_tokens, t.start_s) for t in bob.turns] == [(1, 0.0), (9, 30.0)]


def test_sessions_of_one_harness_share_its_blocks_and_nothing_else() -> None:
    alice, bob, carol = map(blocks, read_compact([ALICE, BOB, CAROL]).sessions)

    assert alice[0][:3] == alice[1][:3] == bob[0][:3]
    assert alice[0][3] == alice[1][3]
    assert len({*alice[0], *alice[1]}) == 5 + 3
    private = [set(alice[0][3:] + alice[1][3:]), set(bob[0][3:]), set(bob[1]), set(carol[0])]
    assert len(set().union(*private)) == sum(map(len, private))


def test_a_prompt_that_opens_otherwise_does_not_share_the_harness() -> None:
    bob = blocks(read_compact([BOB]).sessions[0])

    assert not {*bob[0]} & {*bob[1]}


def test_plain_block_ids_read_as_runs_do() -> None:
    plain = document(
        "alice",
        [request(0, 57, hash_ids=[1, 2, 3, 4, 5]), request(7, 72, type="s", hash_ids=[1, 2, 3, 4, 9, 10, 11])],
        models=["m"],
        hash_id_scope="local",
    )

    assert read_weka([("a.json", plain)], "compact") == read_compact([ALICE])
    assert read_compact([plain.encode()]) == read_compact([ALICE])


def test_global_block_ids_stay_as_they_are() -> None:
    one = document("one", [request(0, 40, hash_ids=[7, 8, 9, 30])], hash_id_scope="global")
    two = document("two", [request(0, 30, hash_ids=[7, 8, 12])], hash_id_scope="global")

    assert [blocks(session) for session in read_compact([one, two]).sessions] == [[[7, 8, 9, 30]], [[7, 8, 12]]]


def test_a_partly_filled_last_block_is_left_out() -> None:
    ceiling = document("a", [request(0, 41, hash_ids=[1, 2, 3, 4, 5])])

    assert [len(turn) for turn in blocks(read_compact([ceiling]).sessions[0])] == [4]


@pytest.mark.parametrize("first", [0.0, 12.0])
def test_a_sub_agent_is_a_session_that_starts_after_its_parent(first: float) -> None:
    inner = [request(first, 30, blocks=[[20, 3]]), request(first + 4, 45, blocks=[[20, 4]])]
    nested = {"t": 12.0, "type": "subagent", "agent_id": "x", "requests": inner}
    empty = {"t": 13.0, "type": "subagent", "requests": []}
    line = document("p", [request(2, 30, blocks=[[1, 3]]), nested, empty, request(40, 50, blocks=[[1, 5]])])

    sessions = by_name(read_compact([line]))

    assert list(sessions) == ["p", "p/1"]
    agent = sessions["p/1"]
    assert (agent.parent, agent.arrival_s) == ("p", 10.0)
    assert [turn.start_s for turn in agent.turns] == [0.0, 4.0]
    assert len(sessions["p"].turns) == 2
    assert not {*blocks(agent)[0]} & {*blocks(sessions["p"])[1]}


def test_a_wait_that_is_not_recorded_is_the_time_since_the_answer() -> None:
    line = document(
        "a", [request(0, 30, blocks=[[1, 3]], api_time=4.0), request(10, 30, blocks=[[1, 3]], think_time=None)]
    )

    assert read_compact([line]).sessions[0].turns[1].think_s == 6.0


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (["{"], "line 1: .*a session is a JSON object"),
        ([ALICE, "", "[]"], r"line 3: Expected `object`, got `array`: a session"),
        ([document("a", [request(0, 30)])], r"line 1, session 'a', request 1: 30 tokens are 3 full blocks of 10"),
        ([document("a", [request(0, -1, blocks=[[1, 1]])])], r"line 1: .*>= 1 - at `\$.requests\[0\].in`"),
        ([document("a", [request(0, 30, type="x", blocks=[[1, 3]])])], r"line 1: Invalid value 'x'"),
        ([document("a", [])], "line 1: session 'a' has no requests of its own"),
        ([ALICE, ALICE], "line 2: the second session with the id 'alice'"),
        ([ALICE, document("b", [request(0, 9)], block_size=64)], "line 2: block_size 64 .* after block_size 10"),
        ([ALICE, document("b", [request(0, 9)], hash_id_scope="global")], "line 2: .*'global' after .*'local'"),
        ([b'{"id": "\xff"}'], "line 1: "),
        ([], "no session at all"),
    ],
)
def test_a_bad_session_is_named_with_its_line(lines: list[Any], says: str) -> None:
    with pytest.raises(TraceError, match=says) as raised:
        read_compact(lines)
    assert "\n" not in str(raised.value)


def row(**fields: Any) -> str:
    return json.dumps({"input_length": 1100, "output_length": 3, "hash_ids": [4, 5, 6]} | fields)


def test_a_mooncake_row_without_a_session_is_a_session() -> None:
    trace = read_mooncake([row(timestamp=500), row(timestamp=2500, hash_ids=[4, 5, 8])])

    assert trace.block_size == 512
    assert [session.arrival_s for session in trace.sessions] == [0.0, 2.0]
    assert [blocks(session) for session in trace.sessions] == [[[4, 5]], [[4, 5]]]
    assert len({session.session_id for session in trace.sessions}) == 2


def test_mooncake_rows_of_one_session_are_its_turns_under_either_set_of_names() -> None:
    lines = [
        row(session_id="a", timestamp=1000),
        row(session_id="b", timestamp=0),
        json.dumps(
            {"session_id": "a", "input_tokens": 1600, "output_tokens": 0, "hash_ids": [4, 5, 6], "delay_ms": 250}
        ),
        json.dumps(
            {"session_id": "b", "input_length": 1600, "output_length": 2, "hash_ids": [9, 7, 8, 1], "created_time": 900}
        ),
    ]

    a, b = read_mooncake(lines).sessions

    assert (a.session_id, a.arrival_s, [t.think_s for t in a.turns]) == ("a", 1.0, [0.0, 0.25])
    assert (b.session_id, b.arrival_s, [t.think_s for t in b.turns]) == ("b", 0.0, [0.0, 0.9])
    assert [t.start_s for t in a.turns] == [0.0, 0.25]
    assert [t.output_tokens for t in a.turns] == [3, 1]
    assert blocks(b) == [[4, 5], [9, 7, 8]]


def test_the_block_size_is_the_one_that_all_rows_fit() -> None:
    small = row(input_length=192, hash_ids=[1, 2, 3])

    assert read_mooncake([small]).block_size == 64
    assert read_mooncake([row(input_length=40, hash_ids=[1]), small]).block_size == 64
    with pytest.raises(TraceError, match=r"line 2: no block size goes with 3 hash_ids for 1100 tokens"):
        read_mooncake([small, row()])


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("nope", "line 1: JSON is malformed"),
        (row(input_length=None), r"line 1: Expected `int`, got `null` - at `\$.input_length`"),
        (json.dumps({"input_length": 5, "output_length": 5}), "line 1: .*`hash_ids`"),
        (row(delay=1, delay_ms=2), "line 1: has both delay and delay_ms"),
        ("", "no row at all"),
    ],
)
def test_a_bad_row_is_named_with_its_line(line: str, says: str) -> None:
    with pytest.raises(TraceError, match=says) as raised:
        read_mooncake([line])
    assert "\n" not in str(raised.value)
