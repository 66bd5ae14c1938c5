"""What cannot be served is refused before the answer begins: 400, one line, naming the place."""

from typing import Any

import pytest
from openai import APIStatusError, BadRequestError, NotFoundError

from tests.live.chat import Chat, Json, user

CONTEXT = 262_144
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}


def tool(schema: Json) -> Json:
    return {"type": "function", "function": {"name": "look", "parameters": schema}}


def history(arguments: str) -> list[Json]:
    call = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": arguments}}
    return [
        *user("Look"),
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "seen"},
    ]


LOOK = tool({"type": "object", "properties": {"at": {"type": "string"}}})
DEEP = {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "strin"}}}}
NOWHERE = {"type": "object", "properties": {"a": {"$ref": "#/$defs/none"}}}
NAMES_NOTHING = {"type": "function", "function": {"name": "leap"}}
REFUSED: dict[str, tuple[Json, tuple[str, ...]]] = {
    "several choices": ({"n": 2}, ("n:", "2", "1")),
    "an image": (
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "See"}, PICTURE]}]},
        ("messages[0].content[1]", "image_url"),
    ),
    "a type that does not exist": (
        {"tools": [LOOK | {"function": {"name": "l"}}, tool(DEEP)]},
        ("tools[1].function.parameters.properties.a.items", "strin"),
    ),
    "a reference to nothing": (
        {"tools": [tool(NOWHERE)]},
        ("tools[0].function.parameters.properties.a.$ref", "/$defs/none"),
    ),
    "a name that is no name": ({"tools": [{"type": "function", "function": {"name": "rm <rf>"}}]}, ("name",)),
    "a choice that is no tool": ({"tools": [LOOK], "tool_choice": NAMES_NOTHING}, ("tool_choice", "leap")),
    "a call required of no tools": ({"tool_choice": "required"}, ("tool_choice", "tools")),
    "arguments that are no JSON": (
        {"messages": history('{"at": '), "tools": [LOOK]},
        ("messages[1].tool_calls[0].function.arguments", "JSON"),
    ),
    "arguments that are no object": (
        {"messages": history("[1]"), "tools": [LOOK]},
        ("messages[1].tool_calls[0].function.arguments", "object"),
    ),
    "a field that does not exist": ({"extra_body": {"tempratur": 1}}, ("tempratur",)),
    "a response schema that is none": (
        {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": DEEP}}},
        ("response_format.json_schema.schema", "strin"),
    ),
    "alternatives without log probabilities": ({"top_logprobs": 2}, ("top_logprobs", "logprobs")),
    "a bias that the workers cannot get": ({"logit_bias": {"1": 5}}, ("logit_bias",)),
    "a temperature out of range": ({"temperature": 3}, ("emperature", "3")),
    "no messages": ({"messages": []}, ("messages",)),
}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", REFUSED)
def test_a_request_is_refused_with_400_and_the_place(chat: Chat, name: str, stream: bool) -> None:
    fields, said = REFUSED[name]
    with pytest.raises(BadRequestError) as refused:
        ask(chat, stream=stream, **fields)
    message = message_of(refused.value)
    assert all(text in message for text in said), message


@pytest.mark.parametrize("stream", [False, True])
def test_a_prompt_longer_than_the_context_is_refused_with_both_numbers(chat: Chat, stream: bool) -> None:
    with pytest.raises(BadRequestError) as refused:
        ask(chat, stream=stream, messages=user("word " * (CONTEXT + 1000)))
    message = message_of(refused.value)
    assert str(CONTEXT) in message
    (length,) = [int(word) for word in message.split() if word.isdigit()]
    assert CONTEXT + 1000 <= length < CONTEXT + 1100


def test_a_limit_beyond_the_context_is_what_the_context_leaves(chat: Chat) -> None:
    assert chat.whole(user("Hello"), max_tokens=1_000_000).finish_reason == "stop"


def test_an_unknown_model_is_404(chat: Chat) -> None:
    with pytest.raises(NotFoundError):
        ask(chat, model="glm-9")


def test_a_refusal_costs_the_next_request_nothing(chat: Chat) -> None:
    with pytest.raises(BadRequestError):
        ask(chat, n=2)
    assert chat.whole(user("Hello")).finish_reason == "stop"


def ask(chat: Chat, **fields: Any) -> None:
    created: Any = chat.client.chat.completions.create(**{"model": chat.model, "messages": user("Hello"), **fields})
    for _ in created if fields.get("stream") else ():
        pass


def message_of(error: APIStatusError) -> str:
    body = error.response.json()
    message: str = body.get("error", body)["message"]
    assert "\n" not in message
    assert "Traceback" not in message
    return message
