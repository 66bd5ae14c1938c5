"""`/v1/responses` through the `openai` client."""

import json
from itertools import count
from typing import Any

import pytest
from jsonschema import Draft7Validator
from openai import BadRequestError, OpenAI
from openai.types.responses import Response, ResponseFunctionToolCall

from tests.live.chat import Chat, Json, blocks
from tests.live.serving import until
from tests.live.tools import TOOLS, problems

OFFERED = [TOOLS["read_file"], TOOLS["set_flags"], TOOLS["draw_tree"]]
TOOLS_HERE = [{"type": "function", "strict": False, **tool["function"]} for tool in OFFERED]
SHORT: Json = {
    "type": "object",
    "properties": {"verdict": {"enum": ["yes", "no"]}, "points": {"type": "array", "items": {"type": "integer"}}},
    "required": ["verdict", "points"],
    "additionalProperties": False,
}


class Responses:
    """The endpoint, with the model's name filled in."""

    def __init__(self, client: OpenAI, model: str) -> None:
        self._client = client
        self._model = model

    def whole(self, **fields: Any) -> Response:
        response: Response = self._client.responses.create(model=self._model, **fields)
        return response

    def stream(self, **fields: Any) -> tuple[Response, list[Any]]:
        """The response in the last event, and all events."""
        with self._client.responses.create(model=self._model, stream=True, **fields) as stream:
            events: list[Any] = list(stream)
        assert [event.sequence_number for event in events] == list(range(len(events)))
        assert events[0].type == "response.created"
        response: Response = events[-1].response
        return response, events


@pytest.fixture
def responses(chat: Chat) -> Responses:
    return Responses(chat.client, chat.model)


def calls_of(response: Response) -> list[ResponseFunctionToolCall]:
    return [item for item in response.output if item.type == "function_call"]


def said(response: Response) -> tuple[str, list[tuple[str, str]]]:
    return response.output_text, [(call.name, call.arguments) for call in calls_of(response)]


def assert_calls(response: Response) -> None:
    calls = calls_of(response)
    assert calls
    wrong = [problem for call in calls for problem in problems(call.name, call.arguments, OFFERED)]
    assert not wrong, wrong
    assert len({call.call_id for call in calls}) == len(calls)
    assert {call.status for call in calls} == {"completed"}


def test_a_response_has_text_status_and_usage(responses: Responses) -> None:
    response = responses.whole(input="Hello")
    assert response.status == "completed"
    assert response.output_text
    assert response.usage is not None
    assert 0 < response.usage.output_tokens_details.reasoning_tokens < response.usage.output_tokens
    assert response.usage.total_tokens == response.usage.input_tokens + response.usage.output_tokens


def test_a_stream_says_what_the_whole_response_says(responses: Responses) -> None:
    whole = responses.whole(input="Hello", instructions="Be brief")
    last, events = responses.stream(input="Hello", instructions="Be brief")
    deltas = [event.delta for event in events if event.type == "response.output_text.delta"]
    assert "".join(deltas) == last.output_text == whole.output_text
    assert events[-1].type == "response.completed"
    assert last.usage is not None
    assert whole.usage is not None
    assert last.usage.output_tokens == whole.usage.output_tokens


def test_the_limit_makes_a_response_incomplete(responses: Responses) -> None:
    for response in (
        responses.whole(input="Hello", max_output_tokens=7),
        responses.stream(input="Hello", max_output_tokens=7)[0],
    ):
        assert response.status == "incomplete"
        assert response.incomplete_details is not None
        assert response.incomplete_details.reason == "max_output_tokens"
        assert response.usage is not None
        assert response.usage.output_tokens == 7


@pytest.mark.parametrize("choice", ["auto", "required", {"type": "function", "name": "set_flags"}])
def test_function_calls_are_valid_and_stream(responses: Responses, choice: Any) -> None:
    whole = responses.whole(input="Go on", tools=TOOLS_HERE, tool_choice=choice)
    last, events = responses.stream(input="Go on", tools=TOOLS_HERE, tool_choice=choice)
    assert_calls(whole)
    assert_calls(last)
    assert said(last) == said(whole)
    texts: dict[str, str] = {}
    for event in events:
        if event.type == "response.function_call_arguments.delta":
            texts[event.item_id] = texts.get(event.item_id, "") + event.delta
    assert [texts[call.id or ""] for call in calls_of(last)] == [call.arguments for call in calls_of(last)]
    if isinstance(choice, dict):
        assert {call.name for call in calls_of(whole)} == {choice["name"]}


def test_without_parallel_calls_there_is_one(responses: Responses) -> None:
    for number in range(8):
        response = responses.whole(
            input=f"Go on {number}", tools=TOOLS_HERE, tool_choice="required", parallel_tool_calls=False
        )
        assert len(calls_of(response)) == 1


def test_none_never_calls(responses: Responses) -> None:
    response = responses.whole(input="Go on", tools=TOOLS_HERE, tool_choice="none")
    assert calls_of(response) == []
    assert response.output_text


@pytest.mark.parametrize("stream", [False, True])
def test_a_loop_with_outputs_of_calls_goes_to_its_end(responses: Responses, stream: bool) -> None:
    def ask(**fields: Any) -> Response:
        return responses.stream(**fields)[0] if stream else responses.whole(**fields)

    items: list[Any] = [{"role": "user", "content": f"Plant a tree ({stream})"}]
    lengths: list[int] = []
    for turn in range(3):
        response = ask(input=items, tools=TOOLS_HERE, tool_choice="required" if turn < 2 else "auto")
        assert response.usage is not None
        lengths.append(response.usage.input_tokens)
        items += [item.model_dump(exclude_none=True) for item in response.output]
        for call in calls_of(response):
            assert not problems(call.name, call.arguments, OFFERED)
            output = json.dumps({"ran": call.name})
            items.append({"type": "function_call_output", "call_id": call.call_id, "output": output})
    assert response.output_text
    assert calls_of(response) == []
    assert lengths == sorted(set(lengths))


def test_the_second_turn_finds_the_first_in_the_cache(responses: Responses) -> None:
    items: list[Any] = [{"role": "user", "content": "Plant a tree" + " of many leaves" * 60}]
    first = responses.whole(input=items)
    items += [item.model_dump(exclude_none=True) for item in first.output]
    tries = count()

    def found() -> bool:
        second = responses.whole(input=[*items, {"role": "user", "content": f"{next(tries)}: and water it"}])
        assert first.usage is not None
        assert second.usage is not None
        return second.usage.input_tokens_details.cached_tokens >= blocks(first.usage.input_tokens) > 0

    until(found, "the blocks of the first turn are found")


def test_text_format_json_schema_gives_what_fits_the_schema(responses: Responses) -> None:
    form = {"format": {"type": "json_schema", "name": "short", "schema": SHORT, "strict": True}}
    whole = responses.whole(input="Yes or no?", text=form)
    assert responses.stream(input="Yes or no?", text=form)[0].output_text == whole.output_text
    Draft7Validator(SHORT).validate(json.loads(whole.output_text))


@pytest.mark.parametrize("stream", [False, True])
def test_a_bad_tool_schema_is_refused_with_its_place(responses: Responses, stream: bool) -> None:
    bad = {"type": "function", "name": "look", "strict": False, "parameters": {"properties": {"a": {"type": "strin"}}}}
    with pytest.raises(BadRequestError, match=r"tools\[0\]\.function\.parameters\.properties\.a"):
        responses.whole(input="Hello", tools=[bad], stream=stream)


def test_a_prompt_longer_than_the_context_is_refused_with_both_numbers(responses: Responses) -> None:
    with pytest.raises(BadRequestError, match=r"26\d{4} tokens.*262144"):
        responses.whole(input="word " * 263_000)
