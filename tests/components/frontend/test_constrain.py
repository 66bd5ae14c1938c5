"""Which constraint a request gets."""

import json
from typing import Any

import pytest

from components.frontend.constrain import guided_decoding
from components.frontend.errors import RequestError
from components.frontend.request import ChatRequest, Json
from toolcall import parse_tools

TOOLS = [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {}}}}]
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}
RESPONSE = {"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA}}


def constraint(*, reasoning: bool = False, gate: Any = "tag", **fields: Any) -> Json | None:
    request = ChatRequest(model="glm", messages=[], **fields)
    tools = parse_tools(request.tools, request.tool_choice, request.parallel_tool_calls)
    return guided_decoding(request, tools, reasoning=reasoning, gate=gate)


def test_plain_text_is_free() -> None:
    assert constraint() is None
    assert constraint(response_format={"type": "text"}) is None


def test_tools_become_a_structural_tag() -> None:
    found = constraint(tools=TOOLS)

    assert found is not None
    assert "get_weather" in json.dumps(found["structural_tag"])


def test_tool_choice_none_frees_the_answer() -> None:
    assert constraint(tools=TOOLS, tool_choice="none") is None


@pytest.mark.parametrize("fields", [{"response_format": RESPONSE}, {"guided_json": SCHEMA}])
def test_a_schema_binds_the_answer(fields: dict[str, Any]) -> None:
    bound, free = constraint(**fields), constraint(response_format={"type": "json_object"})

    assert bound is not None
    assert free is not None
    assert bound["structural_tag"] != free["structural_tag"]
    assert "a" in json.dumps(bound["structural_tag"]["format"])


def test_reasoning_passes_through_the_tag_or_the_engines_gate() -> None:
    by_tag = json.dumps(constraint(response_format=RESPONSE, reasoning=True, gate="tag"))
    by_engine = json.dumps(constraint(response_format=RESPONSE, reasoning=True, gate="engine"))

    assert "</think>" in by_tag
    assert "</think>" not in by_engine


def test_a_response_format_binds_beside_tools_and_gives_way_to_a_forced_call() -> None:
    both = constraint(tools=TOOLS, response_format=RESPONSE)
    forced = constraint(tools=TOOLS, tool_choice="required", response_format=RESPONSE)

    assert both is not None
    assert both != constraint(tools=TOOLS)
    assert both != constraint(response_format=RESPONSE)
    assert forced == constraint(tools=TOOLS, tool_choice="required")
    assert constraint(tools=TOOLS, tool_choice="none", response_format=RESPONSE) == constraint(response_format=RESPONSE)


@pytest.mark.parametrize(
    ("form", "why"),
    [
        ({"type": "grammar"}, "response_format.type: 'grammar'"),
        ({"type": "json_schema"}, r"json_schema\.schema: a schema"),
    ],
)
def test_a_malformed_response_format_is_refused(form: Json, why: str) -> None:
    with pytest.raises(RequestError, match=why):
        constraint(response_format=form)


def test_guided_fields_are_passed_on() -> None:
    assert constraint(guided_regex="a+") == {"regex": "a+"}
    assert constraint(guided_choice=["a", "b"]) == {"choice": ["a", "b"]}


def test_two_guided_fields_contradict() -> None:
    with pytest.raises(RequestError, match="only one of regex, grammar"):
        constraint(guided_regex="a", guided_grammar="root ::= 'a'")


def test_a_guided_field_that_would_forbid_the_reasoning_is_refused() -> None:
    with pytest.raises(RequestError, match="guided_regex: would forbid the reasoning"):
        constraint(guided_regex="a", reasoning=True)
    assert constraint(guided_regex="a", reasoning=True, gate="engine") == {"regex": "a"}
