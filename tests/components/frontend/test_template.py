"""The chat template, rendered as transformers renders it."""

from pathlib import Path
from typing import Any

import pytest
from transformers import AutoTokenizer

from components.frontend.errors import RequestError
from components.frontend.history import template_messages
from components.frontend.model import ServedModel
from components.frontend.template import ChatTemplate

TOOL = {
    "type": "function",
    "function": {
        "name": "read_file",
        "description": "Read “a” file & <more>",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    },
}
HISTORY: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "Read <a> & 世界"}]},
    {
        "role": "assistant",
        "content": None,
        "reasoning_content": "I read it.",
        "tool_calls": [
            {
                "id": "1",
                "type": "function",
                "function": {"name": "read_file", "arguments": '{"path": "é & <b>", "n": [1]}'},
            },
            {"id": "2", "type": "function", "function": {"name": "read_file", "arguments": "{}"}},
        ],
    },
    {"role": "tool", "tool_call_id": "2", "content": "second"},
    {"role": "tool", "tool_call_id": "1", "content": "first &amp; line"},
    {"role": "user", "content": "And now?"},
]


@pytest.fixture(scope="module")
def reference(folder: Path) -> Any:
    return AutoTokenizer.from_pretrained(str(folder))


@pytest.mark.parametrize("tools", [None, [TOOL]])
@pytest.mark.parametrize("variables", [{}, {"reasoning_effort": "low"}, {"enable_thinking": False}])
@pytest.mark.parametrize("turns", range(1, len(HISTORY) + 1))
def test_it_renders_what_transformers_renders(
    reference: Any, model: ServedModel, tools: Any, variables: dict[str, Any], turns: int
) -> None:
    messages = template_messages(HISTORY[:turns])

    expected = reference.apply_chat_template(
        messages, tools=tools, tokenize=False, add_generation_prompt=True, **variables
    )

    assert model.template.render(messages, tools, **variables) == expected


def test_text_is_not_escaped() -> None:
    template = ChatTemplate("{{ messages[0].content }} {{ messages[0] | tojson }}")

    assert template.render([{"content": "<é&'>"}], None) == '<é&\'> {"content": "<é&\'>"}'


def test_loop_controls_are_there_as_glm_5_3_needs_them() -> None:
    template = ChatTemplate(
        "{% for m in messages %}{% if loop.index > 1 %}{% break %}{% endif %}{{ m.content }}{% endfor %}"
    )

    assert template.render([{"content": "a"}, {"content": "b"}], None) == "a"


def test_what_the_template_refuses_is_the_clients_error() -> None:
    template = ChatTemplate("{{ raise_exception('roles must alternate') }}")

    with pytest.raises(RequestError, match=r"messages: .*roles must alternate"):
        template.render([{"content": "a"}], None)


def test_a_template_cannot_reach_into_python() -> None:
    template = ChatTemplate("{{ messages.__class__.__mro__ }}")

    with pytest.raises(RequestError):
        template.render([], None)
