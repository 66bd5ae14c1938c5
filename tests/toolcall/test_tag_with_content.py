"""A response format beside tools: the answer is calls, or content that fits the schema."""

from typing import Any, Literal

import pytest

from tests.toolcall.glm_matcher import admits, compile_tag
from toolcall import SchemaError, build_tag, parse_tools

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "f",
            "parameters": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
        },
    }
]
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"x": {"type": "integer"}},
    "required": ["x"],
    "additionalProperties": False,
}
CALL = "<tool_call>f<arg_key>a</arg_key><arg_value>v</arg_value></tool_call>"


@pytest.mark.parametrize(("reasoning", "before"), [("none", ""), ("tag", "hm</think>"), ("engine", "")])
def test_an_answer_is_calls_or_fitting_content(reasoning: Literal["none", "tag", "engine"], before: str) -> None:
    tag = build_tag(parse_tools(TOOLS), reasoning=reasoning, content=SCHEMA)
    assert tag is not None
    grammar = compile_tag(tag)

    assert all(admits(grammar, before + text) for text in ('{"x": 1}', CALL, CALL + CALL))
    refused = ("text", '{"y": 1}', f'{{"x": 1}}{CALL}', f"text {CALL}", "<tool_call>g</tool_call>")
    assert not any(admits(grammar, before + text) for text in refused)


def test_a_forced_call_leaves_no_room_for_content() -> None:
    required = parse_tools(TOOLS, "required")

    assert build_tag(required, reasoning="none", content=SCHEMA) == build_tag(required, reasoning="none")


def test_a_content_schema_that_nothing_satisfies_is_refused() -> None:
    with pytest.raises(SchemaError, match="response_format"):
        build_tag(parse_tools(TOOLS), reasoning="none", content={"type": "object", "allOf": [False]})
