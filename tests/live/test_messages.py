"""`/v1/messages` through the `anthropic` client."""

import json
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
from anthropic import Anthropic, BadRequestError
from anthropic.types import Message, ToolUseBlock

from tests.live.chat import Json, blocks, user
from tests.live.serving import Graph, until
from tests.live.tools import TOOLS, problems

OFFERED = [TOOLS["read_file"], TOOLS["edit_file"], TOOLS["get_weather"]]
TOOLS_HERE = [
    {"name": function["name"], "description": function["description"], "input_schema": function["parameters"]}
    for function in (tool["function"] for tool in OFFERED)
]


class Messages:
    """The endpoint, with the model's name and a limit filled in."""

    def __init__(self, client: Anthropic, model: str) -> None:
        self._client = client
        self._model = model
        self._fields: dict[str, Any] = {"model": model, "max_tokens": 4000}

    def whole(self, messages: Any, **fields: Any) -> Message:
        message: Message = self._client.messages.create(**self._fields | fields, messages=messages)
        return message

    def stream(self, messages: Any, **fields: Any) -> Message:
        """The message that the client's own helper joins from the events."""
        with self._client.messages.stream(**self._fields | fields, messages=messages) as stream:
            kinds = [event.type for event in stream]
            assert kinds[0] == "message_start"
            assert kinds[-1] == "message_stop"
            assert kinds.count("message_delta") == 1
            assert kinds.count("content_block_start") == kinds.count("content_block_stop")
            return stream.get_final_message()

    def count(self, messages: Any) -> int:
        return self._client.messages.count_tokens(model=self._model, messages=messages).input_tokens


@pytest.fixture(scope="module")
def messages(graph: Graph) -> Iterator[Messages]:
    with Anthropic(base_url=graph.url, api_key="none", max_retries=0) as client:
        yield Messages(client, graph.model)


def text_of(message: Message) -> str:
    return "".join(block.text for block in message.content if block.type == "text")


def thinking_of(message: Message) -> str:
    return "".join(block.thinking for block in message.content if block.type == "thinking")


def uses_of(message: Message) -> list[ToolUseBlock]:
    return [block for block in message.content if block.type == "tool_use"]


def content_of(message: Message) -> list[Any]:
    """The content in the form in which a client sends it back."""
    return [block.model_dump(exclude_none=True) for block in message.content]


def read_by(message: Message) -> tuple[int, int]:
    """Tokens of the prompt that were new and that were cached, which Anthropic counts apart."""
    return message.usage.input_tokens, message.usage.cache_read_input_tokens or 0


def said(message: Message) -> tuple[Any, ...]:
    return (
        text_of(message),
        thinking_of(message),
        [(use.name, use.input) for use in uses_of(message)],
        message.stop_reason,
        message.usage.output_tokens,
    )


def assert_uses(message: Message) -> None:
    uses = uses_of(message)
    assert uses
    assert message.stop_reason == "tool_use"
    wrong = [problem for use in uses for problem in problems(use.name, json.dumps(use.input), OFFERED)]
    assert not wrong, wrong
    assert len({use.id for use in uses}) == len(uses)


def test_a_message_has_thinking_text_stop_reason_and_usage(messages: Messages) -> None:
    message = messages.whole(user("Hello"))
    assert thinking_of(message)
    assert text_of(message)
    assert message.stop_reason == "end_turn"
    assert message.usage.input_tokens > 0
    assert message.usage.output_tokens > 0


@pytest.mark.parametrize("system", ["Be kind", [{"type": "text", "text": "Be kind"}]])
def test_a_stream_says_what_the_whole_message_says(messages: Messages, system: Any) -> None:
    assert said(messages.stream(user("Hello"), system=system)) == said(messages.whole(user("Hello"), system=system))


def test_the_limit_is_the_stop_reason(messages: Messages) -> None:
    for ask in (messages.whole, messages.stream):
        message = ask(user("Hello"), max_tokens=6)
        assert message.stop_reason == "max_tokens"
        assert message.usage.output_tokens == 6


def test_a_stop_sequence_ends_the_text(messages: Messages) -> None:
    whole = messages.whole(user("Hello"))
    text = text_of(whole)
    stop = text[len(text) // 2 :][:10]
    assert stop not in thinking_of(whole)
    for ask in (messages.whole, messages.stream):
        message = ask(user("Hello"), stop_sequences=["never said", stop])
        assert text_of(message) == text[: text.index(stop)]
        assert (message.stop_reason, message.stop_sequence) == ("stop_sequence", stop)


@pytest.mark.parametrize("choice", [{"type": "auto"}, {"type": "any"}, {"type": "tool", "name": "edit_file"}])
def test_tool_uses_are_valid_and_stream(messages: Messages, choice: Json) -> None:
    for number in range(3):
        fields: Any = {"tools": TOOLS_HERE, "tool_choice": choice}
        whole = messages.whole(user(f"Go on {number}"), **fields)
        assert_uses(whole)
        assert said(messages.stream(user(f"Go on {number}"), **fields)) == said(whole)
        if "name" in choice:
            assert {use.name for use in uses_of(whole)} == {"edit_file"}


def test_without_parallel_use_there_is_one(messages: Messages) -> None:
    choice = {"type": "any", "disable_parallel_tool_use": True}
    for number in range(8):
        message = messages.whole(user(f"Go on {number}"), tools=TOOLS_HERE, tool_choice=choice)
        assert len(uses_of(message)) == 1


def test_none_never_uses(messages: Messages) -> None:
    message = messages.whole(user("Go on"), tools=TOOLS_HERE, tool_choice={"type": "none"})
    assert uses_of(message) == []
    assert message.stop_reason == "end_turn"


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("form", ["text", "blocks"])
def test_a_loop_with_tool_results_goes_to_its_end(messages: Messages, form: str, stream: bool) -> None:
    ask = messages.stream if stream else messages.whole
    history: list[Any] = user(f"Mend the tests ({form} {stream})")
    lengths: list[int] = []
    for turn in range(3):
        message = ask(history, tools=TOOLS_HERE, tool_choice={"type": "any" if turn < 2 else "auto"})
        lengths.append(sum(read_by(message)))
        history.append({"role": "assistant", "content": content_of(message)})
        if uses := uses_of(message):
            assert_uses(message)
            content: Any = "seen" if form == "text" else [{"type": "text", "text": "seen"}]
            results = [{"type": "tool_result", "tool_use_id": use.id, "content": content} for use in reversed(uses)]
            history.append({"role": "user", "content": results})
    assert message.stop_reason == "end_turn"
    assert text_of(message)
    assert lengths == sorted(set(lengths))


def test_the_second_turn_finds_the_first_in_the_cache(messages: Messages) -> None:
    history: list[Any] = user("Mend the tests" + " with great care" * 60)
    first = messages.whole(history)
    history.append({"role": "assistant", "content": content_of(first)})
    tries = count()

    def found() -> bool:
        _, cached = read_by(messages.whole([*history, *user(f"{next(tries)}: go on")]))
        return cached >= blocks(sum(read_by(first))) > 0

    until(found, "the blocks of the first turn are found")


def test_tokens_are_counted_without_an_answer(messages: Messages) -> None:
    assert messages.count(user("Hello " * 100)) > messages.count(user("Hello")) > 0


@pytest.mark.parametrize("stream", [False, True])
def test_a_bad_tool_schema_is_refused_with_its_place(messages: Messages, stream: bool) -> None:
    bad = {"name": "look", "input_schema": {"type": "object", "properties": {"a": {"type": "strin"}}}}
    with pytest.raises(BadRequestError, match=r"tools\[0\]\.function\.parameters\.properties\.a") as refused:
        messages.whole(user("Hello"), tools=[bad], stream=stream)
    assert refused.value.response.json()["error"]["type"] == "invalid_request_error"


def test_a_prompt_longer_than_the_context_is_refused_with_both_numbers(messages: Messages) -> None:
    with pytest.raises(BadRequestError, match=r"26\d{4} tokens.*262144"):
        messages.whole(user("word " * 263_000))
