from typing import Any

import pytest

from tests.toolcall.judge import function
from toolcall import SchemaError, ToolChoice, parse_tools

PATH = {"type": "object", "properties": {"path": {"type": "string"}}}
READ = function(PATH, "read")
NOW = function({}, "now")


def test_both_forms_of_a_tool_are_read() -> None:
    chat = {"type": "function", "function": {"name": "f", "description": "d", "parameters": PATH, "strict": True}}
    responses = {"type": "function", "name": "f", "description": "d", "parameters": PATH, "strict": True}
    for tool in (chat, responses):
        (parsed,) = parse_tools([tool]).tools
        assert (parsed.name, parsed.description, parsed.parameters, parsed.strict) == ("f", "d", PATH, True)


def test_a_tool_without_parameters_takes_none() -> None:
    (tool,) = parse_tools([{"type": "function", "function": {"name": "ping", "parameters": None}}]).tools
    assert tool.forms[0].offered() == ()
    assert tool.validator.is_valid({})
    assert not tool.validator.is_valid({"a": 1})


def test_the_same_tool_is_read_once() -> None:
    assert parse_tools([READ]).tools[0] is parse_tools([READ, NOW]).tools[0]


def test_key_tells_requests_with_different_tags_apart() -> None:
    same = parse_tools([READ, NOW])
    assert same.key == parse_tools([READ, NOW], "auto", True).key
    others = [
        parse_tools([NOW, READ]), parse_tools([READ]), parse_tools([READ, NOW], "required"),
        parse_tools([READ, NOW], None, False), parse_tools([READ, NOW], {"type": "function", "name": "now"}),
    ]  # fmt: skip
    assert len({same.key, *(each.key for each in others)}) == len(others) + 1


@pytest.mark.parametrize(
    ("choice", "parsed"),
    [
        (None, ToolChoice("auto")),
        ("auto", ToolChoice("auto")),
        ("required", ToolChoice("required")),
        ("none", ToolChoice("none")),
        ({"type": "function", "function": {"name": "now"}}, ToolChoice("named", "now")),
        ({"type": "function", "name": "now"}, ToolChoice("named", "now")),
    ],
)
def test_the_choice_is_read_in_both_forms(choice: Any, parsed: ToolChoice) -> None:
    assert parse_tools([READ, NOW], choice).choice == parsed


def test_without_tools_there_is_no_choice() -> None:
    assert parse_tools(None).choice == ToolChoice("none")
    assert parse_tools([], "auto").choice == ToolChoice("none")


@pytest.mark.parametrize("form", [lambda inner: {"allowed_tools": inner}, lambda inner: inner])
def test_allowed_tools_narrow_what_is_offered(form: Any) -> None:
    inner = {"mode": "required", "tools": [{"type": "function", "name": "now"}]}
    tools = parse_tools([READ, NOW], {"type": "allowed_tools", **form(inner)})
    assert [tool.name for tool in tools.tools] == ["now"]
    assert tools.choice == ToolChoice("required")
    assert tools.by_name("read") is None


@pytest.mark.parametrize(
    ("tools", "choice", "path"),
    [
        ([{"type": "web_search"}], None, "tools[0].type"),
        ([READ, 3], None, "tools[1].type"),
        ([{"type": "function", "function": {"name": "a b"}}], None, "tools[0].function.name"),
        ([{"type": "function", "function": {"name": "a<b"}}], None, "tools[0].function.name"),
        ([{"type": "function", "function": {}}], None, "tools[0].function.name"),
        ([{"type": "function", "name": "f", "parameters": []}], None, "tools[0].parameters"),
        ([READ, function({"type": "string"}, "g")], None, "tools[1].function.parameters"),
        ([function({"properties": {"x": {"type": "str"}}})], None, "tools[0].function.parameters.properties.x.type"),
        ([function({"required": ["a</arg_key>"]})], None, "tools[0].function.parameters.properties['a</arg_key>']"),
        (
            [function({"properties": {"a": {}, "x": {"type": "integer", "enum": ["1"]}}, "required": ["a", "x"]})],
            None,
            "tools[0].function.parameters.properties.x",
        ),
        ([READ, function({}, "read")], None, "tools[1]"),
        ([READ], {"type": "function", "function": {"name": "other"}}, "tool_choice"),
        ([READ], "sometimes", "tool_choice"),
        ([READ], {"type": "custom", "name": "read"}, "tool_choice"),
        ([READ], {"type": "allowed_tools", "tools": [{"name": "other"}]}, "tool_choice"),
        ([], "required", "tool_choice"),
    ],
)
def test_what_cannot_be_served_is_refused_at_its_place(tools: Any, choice: Any, path: str) -> None:
    with pytest.raises(SchemaError) as caught:
        parse_tools(tools, choice)
    assert caught.value.path == path


@pytest.mark.parametrize(
    "parameters",
    [
        {"type": "object", "properties": {}, "required": []},
        {"type": "object", "properties": None},
        {"properties": {"a": {"type": "string", "required": True}}},
        {"$schema": "http://json-schema.org/draft-04/schema#", "type": "object"},
        {"type": ["object", "null"], "properties": {}},
        {"type": "object", "properties": {"a</arg_key>": {}}},
        {"type": "object", "properties": {"a": {"type": "string", "format": "odd", "pattern": "(?<x>["}}},
        {"title": "X", "x-vendor": [1]},
    ],
)
def test_what_is_odd_but_usable_is_never_refused(parameters: Any) -> None:
    assert parse_tools([function(parameters)]).tools[0].name == "f"
