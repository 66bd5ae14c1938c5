"""`response_format`: an answer that is JSON, and the JSON that was asked for."""

import json
from typing import Any

import pytest
from jsonschema import Draft7Validator

from tests.live.chat import NO_THINKING, Chat, Json, user
from tests.live.tools import TOOLS, assert_calls

SCHEMAS: dict[str, Json] = {
    "flat": {
        "type": "object",
        "properties": {
            "title": {"type": "string", "minLength": 1},
            "stars": {"type": "integer", "minimum": 1, "maximum": 5},
        },
        "required": ["title", "stars"],
        "additionalProperties": False,
    },
    "nested": {
        "type": "object",
        "properties": {
            "steps": {"type": "array", "minItems": 1, "maxItems": 3, "items": {"$ref": "#/$defs/step"}},
            "owner": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        },
        "required": ["steps", "owner"],
        "$defs": {
            "step": {
                "type": "object",
                "properties": {"do": {"enum": ["read", "write", "run"]}, "sure": {"type": "boolean"}},
                "required": ["do", "sure"],
                "additionalProperties": False,
            }
        },
    },
    "letters": {
        "type": "object",
        "properties": {"city": {"enum": ["Zürich", "東京 🗼", "नमस्ते"]}},
        "required": ["city"],
    },
    "a list": {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 4},
}


@pytest.mark.parametrize("extra", [{}, NO_THINKING], ids=["thinking", "not thinking"])
def test_json_object_gives_an_object(chat: Chat, extra: Json) -> None:
    answer = chat.both(user("As JSON, please"), response_format={"type": "json_object"}, extra_body=extra)
    assert isinstance(json.loads(answer.content), dict)
    assert answer.finish_reason == "stop"
    assert bool(answer.reasoning) == (not extra)


@pytest.mark.parametrize("extra", [{}, NO_THINKING], ids=["thinking", "not thinking"])
@pytest.mark.parametrize("name", SCHEMAS)
def test_json_schema_gives_what_fits_the_schema(chat: Chat, name: str, extra: Json) -> None:
    form: dict[str, Any] = {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMAS[name]}}
    for seed in range(3):
        answer = chat.both(user("As JSON, please"), response_format=form, seed=seed, extra_body=extra)
        Draft7Validator(SCHEMAS[name]).validate(json.loads(answer.content))
        assert answer.finish_reason == "stop"


def test_an_answer_cut_by_the_limit_says_so(chat: Chat) -> None:
    answer = chat.whole(
        user("As JSON, please"), response_format={"type": "json_object"}, max_tokens=3, extra_body=NO_THINKING
    )
    assert answer.finish_reason == "length"


def test_text_asks_for_nothing(chat: Chat) -> None:
    assert chat.whole(user("Hello"), response_format={"type": "text"}) == chat.whole(user("Hello"))


def test_with_tools_on_offer_an_answer_is_a_call_or_fits_the_schema(chat: Chat) -> None:
    tools = [TOOLS["get_weather"]]
    form = {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMAS["nested"]}}
    called = chat.first(user("Weather?"), lambda answer: len(answer.calls) == 1, tools=tools, response_format=form)
    assert_calls(called, tools)
    (id_,), ((name, arguments),) = called.call_ids, called.calls
    call = {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}
    history = [
        *user("Weather?"),
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": id_, "content": "rain"},
    ]
    answer = chat.both(history, tools=tools, response_format=form)
    assert answer.calls == []
    Draft7Validator(SCHEMAS["nested"]).validate(json.loads(answer.content))
