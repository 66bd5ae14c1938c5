from typing import Any

import pytest

from toolcall import nodes as n
from toolcall.automaton import lengths
from toolcall.normalize import Unenforced, normalize

TEXT, NULL, INTEGER = n.Text(), n.Null(), n.Number(integer=True)


@pytest.mark.parametrize(
    ("schema", "node"),
    [
        (True, n.ANY),
        (False, n.NEVER),
        ({}, n.ANY),
        ({"description": "any", "default": 3}, n.ANY),
        ({"type": "string"}, TEXT),
        ({"type": ["string", "null"]}, n.Union((TEXT, NULL))),
        ({"type": ["integer", "number"]}, n.Number()),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, n.Union((TEXT, NULL))),
        ({"type": "string", "nullable": True}, TEXT),
        ({"allOf": [{"type": "integer"}, {"maximum": 50}]}, n.Number(integer=True, high=50)),
        ({"type": "integer", "minimum": 1, "exclusiveMinimum": 1}, n.Number(integer=True, low=1, open_low=True)),
        ({"type": "integer", "minimum": 0.2, "maximum": 0.8}, n.NEVER),
        ({"enum": ["a", 1, 1.0, True]}, n.Literals(("a", 1, True))),
        ({"type": "integer", "enum": ["a", 1]}, n.Literals((1,))),
        ({"const": None}, n.Literals((None,))),
        ({"const": "x</arg_value>"}, n.NEVER),
        ({"items": {"type": "null"}}, n.Array(NULL)),
        (
            {"type": "array", "items": [{"type": "null"}], "additionalItems": False},
            n.Array(n.NEVER, (NULL,), longest=1),
        ),
        ({"type": "string", "minLength": 1}, n.Text(lengths(1, None))),
        ({"type": "string", "minLength": 1, "maxLength": 500000}, n.Text(lengths(1, None))),
        ({"pattern": "^a$", "maxLength": 0, "type": "string"}, n.NEVER),
    ],
)
def test_the_spellings_of_a_type(schema: Any, node: n.Node) -> None:
    assert normalize(schema)[0].node == node


def test_an_object_keeps_order_requirement_and_source() -> None:
    schema = {"properties": {"b/": {"type": "null"}, "a": {"type": "string"}}, "required": ["a", "c"]}
    node = normalize(schema)[0].node
    assert isinstance(node, n.Object)
    assert node.properties == (
        n.Property("b/", NULL, required=False, sources=("/properties/b~1",)),
        n.Property("a", TEXT, required=True, sources=("/properties/a",)),
        n.Property("c", n.ANY, required=True),
    )
    assert node.implicit
    assert node.listed


@pytest.mark.parametrize(
    ("schema", "extra"),
    [
        ({"type": "object", "additionalProperties": False}, ()),
        ({"type": "object", "additionalProperties": {"type": "null"}}, (NULL,)),
        ({"type": "object", "patternProperties": {"^x": {"type": "null"}}, "additionalProperties": False}, (NULL,)),
    ],
)
def test_other_members_of_an_object(schema: Any, extra: tuple[n.Node, ...]) -> None:
    node = normalize(schema)[0].node
    assert isinstance(node, n.Object)
    assert tuple(each.node for each in node.extra) == extra


def test_references_are_read_once_and_may_be_recursive() -> None:
    tree = {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#/definitions/T"}}}}
    shape, _ = normalize({"properties": {"t": {"$ref": "#/definitions/T"}}, "definitions": {"T": tree}})
    assert isinstance(shape.node, n.Object)
    assert shape.node.properties[0].node == n.Ref("/definitions/T")
    definition = shape.definitions["/definitions/T"]
    assert isinstance(definition, n.Object)
    assert definition.properties[0].node == n.Array(n.Ref("/definitions/T"))


def test_what_stands_beside_a_reference_holds_too() -> None:
    schema = {"$ref": "#/$defs/I", "maximum": 5, "description": "d", "$defs": {"I": {"type": "integer"}}}
    assert normalize(schema)[0].node == n.Number(integer=True, high=5)


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}},
        {
            "$ref": "#/$defs/A",
            "$defs": {"A": {"anyOf": [{"$ref": "#/$defs/B"}]}, "B": {"anyOf": [{"$ref": "#/$defs/A"}]}},
        },
        {"$ref": "#/$defs/A", "$defs": {"A": {"allOf": [{"$ref": "#/$defs/A"}, {"type": "object"}]}}},
    ],
)
def test_a_definition_made_of_itself_comes_to_an_end(schema: Any) -> None:
    shape, _ = normalize(schema)
    n.options(shape.definitions, shape.node)


def test_the_remainder_names_what_is_left_to_the_check() -> None:
    schema = {
        "properties": {
            "s": {"type": "string", "minLength": 200, "maxLength": 900, "pattern": "(?=a)"},
            "l": {
                "type": "array",
                "items": {"type": "number", "multipleOf": 0.5},
                "uniqueItems": True,
                "maxItems": 500,
            },
            "o": {"oneOf": [{"type": "string"}, {"not": {"type": "null"}}]},
        },
        "patternProperties": {"^x": {"type": "number", "minimum": 0.5, "maximum": 2}},
        "minProperties": 1,
    }
    assert set(normalize(schema)[1]) == {
        Unenforced("$", "minProperties"),
        Unenforced("$", "patternProperties"),
        Unenforced("$", "additionalProperties"),
        Unenforced("$.s", "minLength"),
        Unenforced("$.s", "maxLength"),
        Unenforced("$.s", "pattern"),
        Unenforced("$.l", "uniqueItems"),
        Unenforced("$.l", "maxItems"),
        Unenforced("$.l[]", "multipleOf"),
        Unenforced("$.o", "oneOf"),
        Unenforced("$.o.oneOf[1]", "not"),
    }


def test_a_plain_schema_leaves_nothing() -> None:
    schema = {"type": "object", "properties": {"s": {"type": "string"}}, "additionalProperties": False}
    assert normalize(schema)[1] == ()


def test_a_very_deep_schema_is_cut_off_and_told() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(200):
        schema = {"type": "array", "items": schema}
    assert any(each.keyword == "depth" for each in normalize(schema)[1])
