"""Tool calls: who may call what, and what a call looks like in a stream."""

import json
from typing import Any

import pytest

from tests.live.chat import NO_THINKING, Answer, Chat, Json, join, user
from tests.live.tools import TOOLS, assert_calls, named

FEW = [TOOLS["read_file"], TOOLS["search_text"], TOOLS["get_weather"]]
SEEDS = range(5)


@pytest.mark.parametrize("extra", [{}, NO_THINKING], ids=["thinking", "not thinking"])
def test_required_always_calls(chat: Chat, extra: Json) -> None:
    for seed in SEEDS:
        answer = chat.both(user("Go on"), tools=FEW, tool_choice="required", seed=seed, extra_body=extra)
        assert_calls(answer, FEW)
        assert bool(answer.reasoning) == (not extra)


def test_auto_calls_and_answers(chat: Chat) -> None:
    called = chat.first(user("Read the notes"), lambda answer: len(answer.calls) == 1, tools=FEW, tool_choice="auto")
    assert_calls(called, FEW)
    answered = chat.first(results_of(called), lambda answer: not answer.calls, tools=FEW, tool_choice="auto")
    assert answered.content
    assert answered.finish_reason == "stop"


def results_of(answer: Answer) -> list[Json]:
    """The history of an agent that has run the answer's calls."""
    calls = [
        {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}
        for id_, (name, arguments) in zip(answer.call_ids, answer.calls, strict=True)
    ]
    results = [{"role": "tool", "tool_call_id": id_, "content": "nothing to see"} for id_ in answer.call_ids]
    return [*user("Read the notes"), {"role": "assistant", "content": answer.content, "tool_calls": calls}, *results]


def test_a_choice_that_was_not_made_is_auto(chat: Chat) -> None:
    for seed in SEEDS:
        asked = {"messages": user("Read the notes"), "tools": FEW, "seed": seed}
        assert chat.whole(**asked) == chat.whole(**asked, tool_choice="auto")


def test_none_never_calls(chat: Chat) -> None:
    for seed in SEEDS:
        answer = chat.both(user("Read the notes"), tools=FEW, tool_choice="none", seed=seed)
        assert answer.calls == []
        assert answer.finish_reason == "stop"
        assert answer.content
        assert "<tool_call>" not in answer.content


@pytest.mark.parametrize("tool", FEW, ids=lambda tool: tool["function"]["name"])
def test_a_named_tool_and_no_other_is_called(chat: Chat, tool: Json) -> None:
    name = tool["function"]["name"]
    for seed in SEEDS:
        answer = chat.both(user("Go on"), tools=FEW, tool_choice=named(name), seed=seed)
        assert [called for called, _ in answer.calls] == [name]
        assert_calls(answer, FEW)


@pytest.mark.parametrize("mode", ["auto", "required"])
def test_without_parallel_calls_there_is_at_most_one(chat: Chat, mode: str) -> None:
    several: dict[str, Any] = {"tools": FEW, "tool_choice": mode}
    assert chat.first(user("Go on"), lambda answer: len(answer.calls) > 1, **several)
    called = 0
    for seed in range(12):
        answer = chat.whole(user("Go on"), parallel_tool_calls=False, seed=seed, **several)
        assert len(answer.calls) <= 1
        called += len(answer.calls)
    assert called == 12 if mode == "required" else called > 0


def test_parallel_calls_stream_one_after_another_with_ids_of_their_own(chat: Chat) -> None:
    several: dict[str, Any] = {"tools": FEW, "tool_choice": "required"}
    whole = chat.first(user("Go on"), lambda answer: len(answer.calls) > 1, **several)
    for seed in range(60):
        chunks = list(chat.chunks(user("Go on"), seed=seed, **several))
        if (answer := join(chunks)) == whole:
            break
    assert_calls(answer, FEW)
    assert set(answer.call_ids).isdisjoint(whole.call_ids)
    indexes = [delta.index for chunk in chunks for choice in chunk.choices for delta in choice.delta.tool_calls or []]
    assert indexes == sorted(indexes)
    assert set(indexes) == set(range(len(answer.calls)))


def test_long_arguments_stream_in_pieces(chat: Chat) -> None:
    chapters = [f"chapter_{number}" for number in range(60)]
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in chapters}, "required": chapters}
    tool = {"type": "function", "function": {"name": "write_book", "parameters": schema}}
    chunks = list(chat.chunks(user("Write"), tools=[tool], tool_choice="required", parallel_tool_calls=False))
    deltas = [delta for chunk in chunks for choice in chunk.choices for delta in choice.delta.tool_calls or []]
    assert len([delta for delta in deltas if delta.function and delta.function.arguments]) > 2
    answer = join(chunks)
    assert_calls(answer, [tool])
    assert sorted(json.loads(answer.calls[0][1])) == sorted(chapters)


def test_a_call_cut_by_the_limit_is_no_call(chat: Chat) -> None:
    fields: dict[str, Any] = {"tools": FEW, "tool_choice": named("search_text"), "extra_body": NO_THINKING}
    whole = chat.whole(user("Go on"), seed=1, **fields)
    assert whole.usage is not None
    cut = chat.whole(user("Go on"), seed=1, max_tokens=whole.usage.completion_tokens - 3, **fields)
    assert (cut.calls, cut.finish_reason) == ([], "length")
    assert "<" not in cut.content


def test_letters_of_all_scripts_are_whole_in_streamed_arguments(chat: Chat) -> None:
    tool = TOOLS["get_weather"]
    cities = tool["function"]["parameters"]["properties"]["city"]["enum"]
    for city in cities:
        only = json.loads(json.dumps(tool))
        only["function"]["parameters"]["properties"]["city"]["enum"] = [city]
        chunks = list(chat.chunks(user("Weather"), tools=[only], tool_choice="required"))
        answer = join(chunks)
        assert_calls(answer, [only])
        assert json.loads(answer.calls[0][1])["city"] == city
        assert all("\N{REPLACEMENT CHARACTER}" not in chunk.model_dump_json() for chunk in chunks)
