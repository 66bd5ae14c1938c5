from typing import Any

import pytest

from tests.toolcall.glm_matcher import admits, compile_grammar
from tests.toolcall.judge import function
from toolcall import parse_tools
from toolcall.call_rules import call_grammar


def pairs(**arguments: str) -> str:
    return "".join(f"<arg_key>{key}</arg_key><arg_value>{value}</arg_value>" for key, value in arguments.items())


def admitted(schema: Any, *texts: str, shallow: bool = False) -> list[bool]:
    tools = parse_tools([function(schema)])
    grammar = compile_grammar(call_grammar(tools.tools, 64, shallow=shallow))
    return [admits(grammar, f"f{text}") for text in texts]


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": "string"}, ["", "a < b", '"q"', "null", "</arg", "<tool_call>", "é\n"], ["</arg_value>"]),
        ({"type": "string", "minLength": 1}, ["a", "<", "</", "<b>x</b>", "\n"], ["", "<</arg_value>"]),
        ({"type": "integer", "minimum": 0, "maximum": 12}, ["0", "12"], ["13", "-1", " 3", "3 ", "3.5", '"3"']),
        ({"type": "boolean"}, ["true"], ["True", "1", ""]),
        ({"type": ["string", "null"]}, ["null", "x", ""], []),
        ({"type": ["integer", "null"]}, ["null", "3"], ["x", ""]),
        ({"enum": ["a", "7", 8, None]}, ["a", "7", "8", "null"], ["9", '"a"', ""]),
        ({"const": "<max>"}, ["<max>"], ["max"]),
        ({"type": "string", "format": "date"}, ["2026-02-03"], ["today", '"2026-02-03"']),
        ({"anyOf": [{"enum": ["auto"]}, {"type": "integer"}]}, ["auto", "5"], ["manual"]),
        ({"type": "array", "items": {"type": "string"}}, ["[]", '["a<b", "</x>"]'], ['["</arg_value>"]', "a"]),
        ({}, ["x", "3", ""], ["</arg_value>"]),
    ],
)
def test_a_value_is_held_to_its_schema(schema: Any, good: list[str], bad: list[str]) -> None:
    whole = {"type": "object", "properties": {"v": schema}, "required": ["v"]}
    assert admitted(whole, *(pairs(v=value) for value in good)) == [True] * len(good)
    assert admitted(whole, *(pairs(v=value) for value in bad)) == [False] * len(bad)


def test_keys_are_declared_required_and_given_once() -> None:
    schema = {"properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "required": ["b"]}
    texts = (pairs(b="1"), pairs(a="1", b="2"), pairs(b="1", a="2"), pairs(a="1"), pairs(c="1", b="2"), "")
    assert admitted(schema, *texts, pairs(b="1") * 2) == [True, True, True, False, False, False, False]


def test_other_keys_come_only_where_the_schema_says_so() -> None:
    schema = {"properties": {"n": {"type": "integer"}}, "additionalProperties": {"type": "boolean"}}
    texts = (pairs(x="true"), pairs(n="1", x="true", y="false"), pairs(x="1"), pairs(n="true"))
    assert admitted(schema, *texts) == [True, True, False, False]
    assert admitted({"type": "object"}, pairs(x="anything"), "") == [True, True]
    assert admitted({"type": "object", "properties": {}}, pairs(x="1"), "") == [False, True]


def test_forms_of_arguments_are_alternatives() -> None:
    schema = {
        "anyOf": [
            {
                "type": "object",
                "properties": {"kind": {"const": "a"}, "v": {"type": "string"}},
                "required": ["kind", "v"],
            },
            {
                "type": "object",
                "properties": {"kind": {"const": "b"}, "v": {"type": "null"}},
                "required": ["kind", "v"],
            },
        ]
    }
    texts = (pairs(kind="a", v="x"), pairs(kind="b", v="null"), pairs(kind="b", v="x"), pairs(kind="c", v="x"))
    assert admitted(schema, *texts) == [True, True, False, False]


def test_one_line_break_may_stand_between_parts() -> None:
    schema = {"properties": {"a": {"type": "string"}}}
    newline = "\n<arg_key>a</arg_key>\n<arg_value>x</arg_value>\n"
    assert admitted(schema, newline, newline.replace("\n", "\n\n"), "\n") == [True, False, True]


def test_a_recursive_schema_may_nest() -> None:
    schema = {
        "properties": {"t": {"$ref": "#/$defs/T"}},
        "$defs": {"T": {"type": "object", "properties": {"t": {"$ref": "#/$defs/T"}}, "additionalProperties": False}},
    }
    assert admitted(schema, pairs(t='{"t": {"t": {}}}'), pairs(t='{"t": {"u": {}}}')) == [True, False]


def test_tools_with_equal_definitions_do_not_mix() -> None:
    def tool(name: str, kind: str) -> dict[str, Any]:
        return function({"properties": {"x": {"$ref": "#/$defs/X"}}, "$defs": {"X": {"items": {"type": kind}}}}, name)

    tools = parse_tools([tool("f", "null"), tool("g", "boolean")])
    grammar = compile_grammar(call_grammar(tools.tools, 64))
    texts = ("f" + pairs(x="[null]"), "g" + pairs(x="[true]"), "f" + pairs(x="[true]"), "g" + pairs(x="[null]"))
    assert [admits(grammar, text) for text in texts] == [True, True, False, False]


def test_a_shallow_grammar_knows_keys_and_tells_json_from_text() -> None:
    schema = {"properties": {"s": {"enum": ["a"]}, "n": {"type": "integer"}}, "required": ["n"]}
    texts = (pairs(n="1", s="b"), pairs(n='{"a": []}'), pairs(n="x"), pairs(s="a"), pairs(n="1", e="1"))
    assert admitted(schema, *texts, shallow=True) == [True, True, False, False, False]
