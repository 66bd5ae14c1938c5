"""Arguments fit their schemas, whatever the schema: each tool alone, streamed and whole."""

import json
from pathlib import Path

import pytest

from tests.live.chat import Chat, Json, user
from tests.live.tools import HARD_TOOLS, TOOLS, assert_calls, errors_of, named
from toolcall import parse_tools

CONFORMANCE = Path(__file__).parent.parent / "conformance" / "data" / "schemas.jsonl"


def conformance_tools() -> dict[str, Json]:
    """The tools of the conformance corpus, by id."""
    lines = CONFORMANCE.read_text(encoding="utf-8").split("\n") if CONFORMANCE.exists() else []
    cases = [json.loads(line) for line in lines if line]
    return {case["id"]: case["tool"] for case in cases}


HARD = HARD_TOOLS | conformance_tools()


@pytest.mark.parametrize("name", TOOLS)
def test_arguments_fit_the_schema(chat: Chat, name: str) -> None:
    tool = TOOLS[name]
    for seed in range(2):
        choice = "required" if seed else named(name)
        assert_calls(chat.both(user("Call it"), tools=[tool], tool_choice=choice, seed=seed), [tool])


@pytest.mark.parametrize("name", HARD)
def test_arguments_miss_only_what_the_tag_says_it_leaves_open(chat: Chat, name: str) -> None:
    tool = HARD[name]
    (parsed,) = parse_tools([tool]).tools
    left_open = {unenforced.keyword for unenforced in parsed.remainder}
    answer = chat.stream(user("Call it"), tools=[tool], tool_choice="required")
    assert answer.finish_reason == "tool_calls"
    for called, arguments in answer.calls:
        missed = [
            error for error in errors_of(called, arguments, [tool]) if not left_open.intersection(error.schema_path)
        ]
        assert not missed, f"{called}({arguments}): {missed[0].message}"


def test_all_tools_at_once_can_be_offered(chat: Chat) -> None:
    tools = list(TOOLS.values())
    for seed in range(4):
        assert_calls(chat.both(user("Call one"), tools=tools, tool_choice="required", seed=seed), tools)
