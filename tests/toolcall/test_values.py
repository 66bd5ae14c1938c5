import json
from typing import Any

import pytest

from tests.toolcall.judge import function
from toolcall import parse_tools
from toolcall.values import Argument, encode_string, read, undeclared_argument


def argument(schema: Any, **more: Any) -> Argument:
    return parse_tools([function({"properties": {"v": schema}, **more})]).tools[0].arguments[0]["v"]


OBJECT_OR_TEXT = {
    "anyOf": [{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}, {"type": "string"}]
}


@pytest.mark.parametrize(
    ("schema", "raw", "value"),
    [
        ({"type": "string"}, "007", "007"),
        ({"type": "string"}, ' "q" ', ' "q" '),
        ({"type": "string", "enum": ["true"]}, "true", "true"),
        ({"type": "integer"}, " 42\n", 42),
        ({"type": "integer"}, "9" * 30, int("9" * 30)),
        ({"type": "boolean"}, "True", True),
        ({"type": ["boolean", "null"]}, "null", None),
        ({"type": ["string", "null"]}, "null", None),
        ({"type": ["string", "null"]}, "nulls", "nulls"),
        ({"type": ["string", "integer"]}, "42", 42),
        ({"type": ["string", "integer"]}, "007", "007"),
        ({"type": ["string", "integer"], "maximum": 10}, "42", "42"),
        ({"enum": ["a", "7", 8]}, "7", "7"),
        ({"enum": ["a", "7", 8]}, "8", 8),
        (OBJECT_OR_TEXT, '{"a": 1}', {"a": 1}),
        (OBJECT_OR_TEXT, '{"b": 1}', '{"b": 1}'),
        (OBJECT_OR_TEXT, '{"a": 1', '{"a": 1'),
        ({"type": ["string", "number"]}, "1e999", "1e999"),
        ({"type": ["string", "number"]}, "NaN", "NaN"),
        ({"type": ["string", "object"]}, '{"a": 1, "a": 1e999}', '{"a": 1, "a": 1e999}'),
        ({"type": "object"}, '{"s": "caf\\u00e9"}', {"s": "café"}),
        ({}, "plain words", "plain words"),
        ({}, "[1]", [1]),
        ({}, '"quoted"', '"quoted"'),
    ],
)
def test_a_value_is_what_its_schema_makes_of_it(schema: Any, raw: str, value: Any) -> None:
    reading = read(argument(schema), raw)
    assert (reading.value, reading.problem) == (value, "")
    assert type(reading.value) is type(value)


def test_json_is_passed_on_as_written() -> None:
    assert read(argument({"type": "number"}), " 2.50 ").text == "2.50"
    assert read(argument({"type": "array"}), "[1,  2]\n").text == "[1,  2]"


@pytest.mark.parametrize("raw", ["abc", "NaN", "[1,", "1 2", "", "[" * 100_000])
def test_what_is_no_json_is_kept_as_text_and_told(raw: str) -> None:
    reading = read(argument({"type": "integer"}), raw)
    assert (reading.value, reading.text, reading.problem) == (raw, encode_string(raw), "is not JSON")


def test_a_repeated_member_is_dropped_and_told() -> None:
    reading = read(argument({"type": "object"}), '{"a": 1, "a": 2}')
    assert (reading.text, reading.repair) == ('{"a": 2}', "repeated member of an object dropped")


def test_a_raw_line_break_in_a_json_string_is_mended_and_told() -> None:
    reading = read(argument({"type": "array"}), '["a\nb"]')
    assert (reading.value, reading.text) == (["a\nb"], '["a\\nb"]')
    assert reading.repair


def test_a_branch_is_judged_by_the_clients_own_schema() -> None:
    schema = {"anyOf": [{"$ref": "#/$defs/P"}, {"type": "string"}]}
    defs = {"P": {"type": "object", "properties": {"a/b": {"type": "string", "pattern": "^x"}}}}
    judged = argument(schema, **{"$defs": defs})
    assert read(judged, '{"a/b": "xy"}').value == {"a/b": "xy"}
    assert read(judged, '{"a/b": "y"}').value == '{"a/b": "y"}'


@pytest.mark.parametrize(
    ("start", "sure"),
    [("", False), (" ", False), ("n", False), ("nul", False), ("null", False), ("null ", False), ("nulls", True),
     ("no", True), ("hello", True), ("4", True), ("n u", True)],
)  # fmt: skip
def test_a_nullable_string_is_sure_as_soon_as_it_cannot_be_null(start: str, sure: bool) -> None:
    assert argument({"type": ["string", "null"]}).surely_text(start) is sure


def test_an_undeclared_key_is_read_by_what_the_object_allows() -> None:
    (tool,) = parse_tools([function({"properties": {}, "additionalProperties": {"type": "string"}})]).tools
    assert read(undeclared_argument(tool.forms[0], tool.shape, "x"), "3").value == "3"
    assert read(undeclared_argument(None, None, "x"), "3").value == 3


@pytest.mark.parametrize("raw", [r'{"a/b": "x\ud800"}', r'{"a/b": "y", "a/b": "x\uDFFF"}'])
def test_half_a_surrogate_pair_is_replaced_and_told(raw: str) -> None:
    schema = {"anyOf": [{"$ref": "#/$defs/P"}, {"type": "string"}]}
    defs = {"P": {"type": "object", "properties": {"a/b": {"type": "string", "pattern": "^x"}}}}
    reading = read(argument(schema, **{"$defs": defs}), raw)
    assert (reading.value, reading.text) == ({"a/b": "x\ufffd"}, '{"a/b": "x\ufffd"}')
    assert reading.repair == "half of a surrogate pair replaced"


def test_a_whole_surrogate_pair_stays_as_written() -> None:
    reading = read(argument({"type": "array"}), r'["\ud83d\ude00"]')
    assert (reading.value, reading.text, reading.repair) == (["😀"], r'["\ud83d\ude00"]', "")


@pytest.mark.parametrize("schema", [{"$ref": "#/$defs/N"}, {"anyOf": [{"$ref": "#/$defs/N"}, {"type": "string"}]}])
@pytest.mark.parametrize("opening", ["[", '{"a": '])
def test_json_that_nests_beyond_reason_is_text(schema: Any, opening: str) -> None:
    defs = {
        "N": {"type": ["object", "array"], "items": {"$ref": "#/$defs/N"}, "properties": {"a": {"$ref": "#/$defs/N"}}}
    }
    judged, inner = argument(schema, **{"$defs": defs}), "{}" if opening == '{"a": ' else "[]"
    closing = "]" if opening == "[" else "}"
    deep, deeper = (opening * levels + inner + closing * levels for levels in (127, 128))
    assert read(judged, deep).value == json.loads(deep)
    assert read(judged, deeper).value == deeper
