"""An agent's history made ready for the template."""

from typing import Any

import pytest

from components.frontend.errors import RequestError
from components.frontend.history import template_messages


def call(arguments: Any) -> dict[str, Any]:
    return {"id": "c1", "type": "function", "function": {"name": "f", "arguments": arguments}}


def test_arguments_become_a_mapping() -> None:
    messages = template_messages([{"role": "assistant", "tool_calls": [call('{"a": [1, "x"]}')]}])

    assert messages[0]["tool_calls"][0]["function"] == {"name": "f", "arguments": {"a": [1, "x"]}}
    assert messages[0]["content"] == ""


@pytest.mark.parametrize("empty", ["", "  ", None, "{}", {}])
def test_no_arguments_are_an_empty_mapping(empty: Any) -> None:
    messages = template_messages([{"role": "assistant", "content": "x", "tool_calls": [call(empty)]}])

    assert messages[0]["tool_calls"][0]["function"]["arguments"] == {}


@pytest.mark.parametrize(("arguments", "why"), [('{"a": ', "is not JSON"), ("[1]", "must be a JSON object")])
def test_arguments_that_are_no_object_are_refused_with_their_path(arguments: str, why: str) -> None:
    history: list[dict[str, Any]] = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "tool_calls": [call("{}"), call(arguments)]},
    ]

    with pytest.raises(RequestError, match=why) as refused:
        template_messages(history)
    assert refused.value.param == "messages[1].tool_calls[1].function.arguments"


def test_a_tool_result_may_be_a_list_of_parts() -> None:
    content = [{"type": "text", "text": "one "}, {"type": "text", "text": "two"}]

    assert template_messages([{"role": "tool", "content": content}])[0]["content"] == "one two"


def test_a_tool_reference_reaches_the_template() -> None:
    content = [{"type": "tool_reference", "name": "search"}]

    assert template_messages([{"role": "tool", "content": content}])[0]["content"] == content


def test_a_picture_is_refused_with_its_path() -> None:
    content = [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": "x"}}]

    with pytest.raises(RequestError, match=r"messages\[0\]\.content\[1\]: parts of type 'image_url'"):
        template_messages([{"role": "user", "content": content}])


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_is_kept_under_either_name(field: str) -> None:
    assert template_messages([{"role": "assistant", "content": "a", field: "why"}])[0]["reasoning_content"] == "why"


def test_the_clients_messages_are_left_as_they_were() -> None:
    history: list[dict[str, Any]] = [{"role": "assistant", "content": None, "tool_calls": [call('{"a": 1}')]}]

    template_messages(history)

    assert history[0]["content"] is None
    assert history[0]["tool_calls"][0]["function"]["arguments"] == '{"a": 1}'


def test_no_messages_are_refused() -> None:
    with pytest.raises(RequestError, match="at least one"):
        template_messages([])
