from typing import Any

import pytest

from tests.toolcall.glm_matcher import admits, compile_grammar
from toolcall import nodes as n
from toolcall.ebnf import Rules
from toolcall.json_rules import JsonRules, json_grammar
from toolcall.normalize import normalize

OPEN_PAIR = {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": {"type": "string"}}
TREE = {
    "$ref": "#/$defs/T",
    "$defs": {
        "T": {
            "type": "object",
            "properties": {"v": {"type": "string"}, "kids": {"type": "array", "items": {"$ref": "#/$defs/T"}}},
            "required": ["v"],
            "additionalProperties": False,
        }
    },
}
TUPLE = {"type": "array", "items": [{"type": "string"}, {"type": "null"}], "additionalItems": {"type": "boolean"}}


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({}, ["1", '"a"', '[1, {"a": null}]', "{}", "true"], ["", "a", "[1,]", "{1: 2}"]),
        (
            {"type": "array", "items": {"type": "null"}, "minItems": 1, "maxItems": 2},
            ["[null]", "[null, null]"],
            ["[]"],
        ),
        ({"type": "array", "maxItems": 0}, ["[]", "[ ]"], ["[1]"]),
        (TUPLE, ["[]", '["a"]', '["a", null]', '["a",null,true, false]'], ["[null]", '["a", null, null]']),
        (
            {**TUPLE, "minItems": 2, "maxItems": 3},
            ['["a", null]', '["a", null, true]'],
            ['["a"]', '["a",null,true,true]'],
        ),
        ({**TUPLE, "additionalItems": False}, ['["a", null]'], ['["a", null, true]']),
        (
            OPEN_PAIR,
            ["{}", '{"a": 1}', '{"b": "x", "a": 1, "aa": "y"}'],
            ['{"a": "x"}', '{"b": 1}', r'{"\u0061": "x"}'],
        ),
        (TREE, ['{"v": "1", "kids": [{"v": "2", "kids": []}]}', '{"kids": [], "v": ""}'], ['{"kids": []}', '{"v": 1}']),
        ({"enum": ["a", 1, None, {"k": [1]}]}, ['"a"', "1", "null", '{"k": [1]}'], ["a", '"1"', "{}"]),
        ({"type": "string", "format": "date"}, ['"2026-02-03"'], ['"today"', "2026-02-03"]),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, ["3", "null"], ['"3"', "3.5"]),
        ({"type": "object", "properties": {}}, ["{}"], ['{"a": 1}']),
        ({"type": "object"}, ["{}", '{"a": 1, "b": [2]}'], ["[]"]),
    ],
)
def test_json_is_held_to_its_schema(schema: Any, good: list[str], bad: list[str]) -> None:
    grammar = compile_grammar(json_grammar(normalize(schema)[0]))
    assert [text for text in good if not admits(grammar, text)] == []
    assert [text for text in bad if admits(grammar, text)] == []


def test_whitespace_inside_json_has_an_end() -> None:
    grammar = compile_grammar(json_grammar(normalize({"type": "array"})[0]))
    assert admits(grammar, "[\n    1,\n    2\n]")
    assert not admits(grammar, "[" + " " * 50 + "1]")


def test_five_members_may_come_in_any_order() -> None:
    schema = {"type": "object", "properties": {name: {"type": "integer"} for name in "abcde"}}
    grammar = compile_grammar(json_grammar(normalize(schema)[0]))
    assert admits(grammar, '{"e": 1, "b": 2, "a": 3}')
    assert not admits(grammar, '{"e": 1, "b": 2, "e": 3}')


def test_no_name_inside_a_call_holds_the_end_of_a_value() -> None:
    rules = Rules()
    inside = JsonRules(rules, guarded=True, enclosed=True)
    node = n.Object((n.Property("x</arg_value>", n.Null(), required=False),), (n.Members(n.Null()),))
    grammar = compile_grammar(rules.text(inside.value(node)))
    assert admits(grammar, r'{"x<\/arg_value>": null, "y": null}')
    assert not any(
        admits(grammar, f'{{"{name}": null}}') for name in ("x</arg_value>", "</arg_value>", "x</arg_value>y")
    )
