"""The ladder from what a client says to what its prompt repeats."""

import random
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from router.identity import MAX_VALUE, Hints, Identity, Rung, identify, read_hints
from router.lineage import Lineage
from router.trail import follow

from .conftest import Converse

CLAUDE_OLD = "user_0f3a_account_7c2e-11_session_57a121ec-f78c"
CLAUDE_NEW = '{"device_id":"0f3a","account_uuid":"","session_id":"57a121ec-f78c"}'

LADDER: list[tuple[Rung, dict[str, Any], dict[str, Any]]] = [
    ("session-id", {"session-id": "1"}, {}),
    ("claude-code-session-id", {"claude-code-session-id": "2"}, {}),
    ("thread-id", {"thread-id": "3"}, {}),
    ("prompt_cache_key", {}, {"prompt_cache_key": "4"}),
    ("session_id", {}, {"session_id": "5"}),
    ("metadata.session_id", {}, {"metadata": {"session_id": "6"}}),
    ("user_id", {}, {"metadata": {"user_id": CLAUDE_OLD}}),
]


def named(headers: dict[str, Any] | None = None, **body: Any) -> Identity:
    identity = read_hints(headers or {}, body).named
    assert identity is not None
    return identity


def request(lineage: Lineage, prompt: list[int], metadata: dict[str, Any] | None = None, **body: Any) -> Identity:
    hints = read_hints(metadata or {}, {"model": "glm", **body})
    return identify(hints, follow(hints.scope, prompt), lineage)


def stream(length: int, seed: int = 0) -> list[int]:
    return random.Random(seed).choices(range(150_000), k=length)


@pytest.mark.parametrize("first", range(len(LADDER)))
def test_the_first_rung_that_holds_names_the_session(first: int) -> None:
    rung, headers, fields = LADDER[first]
    below = LADDER[first:]
    body = {name: value for _, _, rest in below for name, value in rest.items()}
    if "metadata" in body:
        body["metadata"] = {name: value for _, _, rest in below for name, value in rest.get("metadata", {}).items()}

    identity = named({name: value for _, rest, _ in below for name, value in rest.items()}, **body)

    assert identity == named(headers, **fields)
    assert identity.rung == rung


def test_every_rung_is_reached() -> None:
    lineage = Lineage()
    rungs = {rung for rung, _, _ in LADDER}
    rungs.add(request(lineage, stream(600)).rung)
    rungs.add(request(lineage, [*stream(599), 1, 2]).rung)
    rungs.add(request(lineage, [*stream(599), 3, 4]).rung)

    assert rungs == set(get_args(Rung))


@pytest.mark.parametrize(
    "body",
    [
        {"user": "acme"},
        {"user": "user_acme"},
        {"user": "a_session_b"},
        {"metadata": {"user_id": "acme"}},
        {"metadata": {"user_id": "{"}},
        {"metadata": {"user_id": '{"a":' + "[" * 1500}},
        {"metadata": {"user_id": '{"session_id": 5}'}},
        {"metadata": {"user_id": "user_a_session_" + "b" * 9999}},
        {"metadata": {"user_id": '{"\ud800"'}},
        {"metadata": ["session_id"]},
        {"metadata": None, "session_id": 5, "prompt_cache_key": "  "},
    ],
)
def test_what_names_no_session_is_no_rung(body: dict[str, Any]) -> None:
    assert read_hints({"session-id": ""}, body).named is None


@pytest.mark.parametrize("user_id", [CLAUDE_OLD, CLAUDE_NEW, "user_0f3a_account__session_57a121ec-f78c"])
def test_claude_codes_user_id_names_its_session_in_both_forms(user_id: str) -> None:
    key = named({"claude-code-session-id": "57a121ec-f78c"}).key

    assert named(metadata={"user_id": user_id}) == Identity(key, "user_id")
    assert named(user=user_id) == Identity(key, "user_id")


def test_one_id_is_one_session_on_every_rung() -> None:
    keys = {
        named({"session-id": "s"}).key,
        named({"thread-id": " s "}).key,
        named(prompt_cache_key="s").key,
        named(session_id="s").key,
    }
    assert len(keys) == 1


@pytest.mark.parametrize("header", ["session-id", "claude-code-session-id"])
def test_a_sub_agent_has_a_key_of_its_own_below_its_session(header: str) -> None:
    main = named({header: "s"})
    child = named({header: "s", "claude-code-agent-id": "a"})
    grandchild = named({header: "s", "claude-code-agent-id": "b", "claude-code-parent-agent-id": "a"})

    assert main.parent is None
    assert child.parent == main.key
    assert grandchild.parent == child.key
    assert len({main.key, child.key, grandchild.key}) == 3


@pytest.mark.parametrize(
    ("header", "parent"), [("session-id", "parent-session-id"), ("thread-id", "codex-parent-thread-id")]
)
def test_a_session_may_name_its_parent_but_not_itself(header: str, parent: str) -> None:
    assert named({header: "s", parent: "p"}).parent == named({header: "p"}).key
    assert named({header: "s", parent: "s"}).parent is None


def test_keys_are_scoped_by_api_key_and_by_model() -> None:
    hints = [
        read_hints({"session-id": "s"} | headers, {"model": model})
        for headers in ({}, {"api-key": "k1"}, {"api-key": "k2"})
        for model in ("glm", "other")
    ]

    assert len({hint.scope for hint in hints}) == 6
    assert len({hint.named.key for hint in hints if hint.named}) == 6


@settings(deadline=None)
@given(said=st.text(min_size=12, max_size=40), agent=st.text(min_size=12))
def test_nothing_that_a_client_says_is_kept(said: str, agent: str) -> None:
    metadata = {"session-id": f"session {said}", "claude-code-agent-id": f"agent {agent}", "api-key": f"key {said}"}
    hints = read_hints(metadata, {"model": f"model {said}"})

    kept = msgspec.json.encode(hints).decode()
    assert said not in kept
    assert agent not in kept
    assert all(len(value) == 16 for value in (hints.scope, hints.named.key if hints.named else ""))


@settings(deadline=None)
@given(value=st.text(alphabet="ab世", min_size=1, max_size=2 * MAX_VALUE), rest=st.text(max_size=9))
def test_values_count_to_their_bound_and_no_further(value: str, rest: str) -> None:
    long = value * (MAX_VALUE // len(value) + 1)

    assert named({"session-id": long + rest + "x"}).key == named({"session-id": long + "y"}).key


@settings(deadline=None)
@given(
    metadata=st.dictionaries(
        st.sampled_from(["session-id", "thread-id", "api-key"]), st.none() | st.integers() | st.text()
    ),
    body=st.dictionaries(
        st.sampled_from(["model", "user", "metadata", "session_id"]),
        st.recursive(st.none() | st.text(), lambda inner: st.dictionaries(st.just("user_id"), inner)),
    ),
)
def test_no_request_is_an_error(metadata: dict[str, Any], body: dict[str, Any]) -> None:
    hints = read_hints(metadata, body)

    assert isinstance(hints, Hints)
    assert identify(hints, follow(hints.scope, [1, 2]), Lineage()).key


def test_a_session_without_a_name_is_found_by_its_second_turn(converse: Converse) -> None:
    lineage = Lineage()
    chat = converse("Fix the parser.")

    first = request(lineage, list(chat.prompt()))
    second = request(lineage, list(chat.call("a.py", "text").prompt()))

    assert (first.rung, second.rung) == ("new", "lineage")
    assert first.key == second.key


def test_a_client_may_stop_naming_its_session_and_start_again() -> None:
    lineage = Lineage()
    header = {"session-id": "s"}

    first = request(lineage, stream(600), header)
    second = request(lineage, stream(1200))
    third = request(lineage, stream(1800), header)
    fourth = request(lineage, stream(2400))

    assert [turn.rung for turn in (first, second, third, fourth)] == ["session-id", "lineage", "session-id", "lineage"]
    assert len({turn.key for turn in (first, second, third, fourth)}) == 1


def test_a_name_wins_over_lineage_which_then_tells_the_parent() -> None:
    lineage = Lineage()
    parent = request(lineage, stream(1200), {"session-id": "s"})

    copy = request(lineage, [*stream(1199), 1, 2], {"session-id": "copy"})
    again = request(lineage, [*stream(1199), 1, 3, 4], {"session-id": "copy"})
    told = request(lineage, [*stream(1199), 5, 6], {"session-id": "child", "parent-session-id": "other"})

    assert copy.parent == parent.key
    assert (again.key, again.parent) == (copy.key, None)
    assert told.parent == named({"session-id": "other"}, model="glm").key


def test_a_fork_has_a_key_of_its_own_and_a_parent() -> None:
    lineage = Lineage()
    first = request(lineage, stream(600))
    request(lineage, stream(1200))

    fork = request(lineage, [*stream(599), *stream(400, seed=1)])

    assert fork.rung == "fork"
    assert fork.parent == first.key
    assert fork.key != first.key


def test_equal_prompts_of_two_api_keys_are_two_sessions() -> None:
    lineage = Lineage()
    one = request(lineage, stream(600), {"api-key": "1"})
    other = request(lineage, stream(1200), {"api-key": "2"})

    assert other.rung == "new"
    assert other.key != one.key
    assert request(lineage, stream(1200), {"api-key": "1"}).key == one.key
