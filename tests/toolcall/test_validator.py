from typing import Any

import pytest

from toolcall import SchemaError
from toolcall.validator import compile_schema, first_problem, problems


def judge(schema: dict[str, Any], value: Any) -> bool:
    return compile_schema(schema, "p")[1].is_valid(value)


def test_a_plain_schema_is_kept_as_it_is() -> None:
    schema = {"type": "object"}
    assert compile_schema(schema, "p")[0] is schema


@pytest.mark.parametrize(
    ("odd", "value", "valid"),
    [
        ({"properties": None}, {}, True),
        ({"type": "integer", "minimum": 3, "exclusiveMinimum": True}, 3, False),
        ({"type": "integer", "minimum": 3, "exclusiveMinimum": False}, 3, True),
        ({"properties": {"a": {"type": "string", "required": True}}}, {"a": 1}, False),
        ({"type": "string", "pattern": "("}, "a", True),
        ({"type": "string", "description": 3, "default": 1}, "a", True),
        ({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "string"}, "a", True),
        ({"type": "string", "format": "date"}, "no date", True),
        ({"$ref": "#/$defs/List<Item x>", "$defs": {"List<Item x>": {"type": "string"}}}, 3, False),
    ],
)
def test_what_is_odd_but_plain_in_meaning_is_understood(odd: dict[str, Any], value: Any, valid: bool) -> None:
    assert judge(odd, value) is valid


def test_mending_leaves_the_clients_schema_alone() -> None:
    schema = {"properties": None}
    assert compile_schema(schema, "p")[0] == {}
    assert schema == {"properties": None}


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        ({"properties": {"a b": {"type": "strnig"}}}, "p.properties['a b'].type"),
        ({"properties": []}, "p.properties"),
        ({"properties": {"x": {"items": [{"$ref": "#/$defs/No"}]}}}, "p.properties.x.items[0].$ref"),
        ({"$ref": "https://e.test/remote"}, "p.$ref"),
        ({"required": [3]}, "p.required[0]"),
    ],
)
def test_an_unusable_schema_is_refused_at_its_place(schema: dict[str, Any], path: str) -> None:
    with pytest.raises(SchemaError) as caught:
        compile_schema(schema, "p")
    assert caught.value.path == path
    assert "\n" not in str(caught.value)


def test_problems_carry_path_and_keyword() -> None:
    validator = compile_schema({"properties": {"a": {"items": {"minimum": 3}}}, "required": ["b"]}, "p")[1]
    found = {(problem.path, problem.keyword) for problem in problems(validator, {"a": [1]})}
    assert found == {("$.a[0]", "minimum"), ("$", "required")}


def test_a_value_that_could_not_be_read_is_reported_first() -> None:
    validator = compile_schema({"required": ["b"]}, "p")[1]
    problem = first_problem(validator, {"a b": 1}, [("a b", "is not JSON")])
    assert problem is not None
    assert (problem.path, problem.message) == ("$['a b']", "is not JSON")


def test_half_a_surrogate_pair_does_not_raise() -> None:
    validator = compile_schema({"properties": {"a": {"type": "integer"}}}, "p")[1]
    assert first_problem(validator, {"a": "\ud800"}, []) is not None
