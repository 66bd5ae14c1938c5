"""Promises (a) and (b) of the tag, over generated schemas."""

import json
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conformance.cases import seeded
from tests.toolcall.generated import Case, object_case
from tests.toolcall.glm_matcher import compile_tag, refused_at, sample
from tests.toolcall.judge import function, unsound, validator
from toolcall import build_tag, parse, parse_tools, render_call
from toolcall.admit import same

thorough = settings(
    max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
)


def compiled(schema: Any) -> tuple[Any, Any]:
    tools = parse_tools([function(schema)])
    tag = build_tag(tools, reasoning="none")
    assert tag is not None
    return tools, compile_tag(tag)


@thorough
@given(object_case(2, most=5), st.data())
def test_valid_arguments_are_admitted_and_read_back(case: Case, data: st.DataObject) -> None:
    tools, grammar = compiled(case.schema)
    judge = validator(case.schema)
    for _ in range(3):
        arguments = data.draw(case.values)
        if not judge.is_valid(arguments):
            continue
        text = render_call("f", arguments, newlines=data.draw(st.booleans()))
        assert refused_at(grammar, text) is None, (case.schema, text)
        message = parse(text, tools, reasoning=False)
        assert len(message.tool_calls) == 1
        assert message.tool_calls[0].status.kind == "ok"
        # A string that reads as JSON of another branch is that; either way the schema holds.
        assert judge.is_valid(json.loads(message.tool_calls[0].arguments))


@thorough
@given(object_case(1, most=5), st.data(), st.randoms(use_true_random=False))
def test_small_objects_may_come_in_any_order(case: Case, data: st.DataObject, rng: random.Random) -> None:
    _, grammar = compiled(case.schema)
    pairs = list(data.draw(case.values).items())
    rng.shuffle(pairs)
    if validator(case.schema).is_valid(dict(pairs)):
        assert refused_at(grammar, render_call("f", dict(pairs))) is None, (case.schema, pairs)


@thorough
@given(object_case(2, most=5), st.randoms(use_true_random=False))
def test_whatever_is_admitted_reads_as_valid_calls(case: Case, rng: random.Random) -> None:
    tools, grammar = compiled(case.schema)
    for _ in range(4):
        text = sample(grammar, rng)
        assert text is None or unsound(tools, text) is None, (case.schema, text)


def test_json_equality_tells_booleans_from_numbers() -> None:
    assert same([1, {"a": 2.0}], [1.0, {"a": 2}])
    assert not same([1], [True])


DEFINITIONS = {"P": {"type": "integer", "minimum": 1}, "A b": {"type": "object", "properties": {"t": {"const": "a"}}}}
STRINGS = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}


@pytest.mark.parametrize(
    ("schema", "valid"),
    [
        ({"patternProperties": {"^x_": {"type": "string"}}, "additionalProperties": False}, [{"x_1": "q"}, {}]),
        ({"properties": {"p": {"$ref": "#/$defs/P", "default": 1}}, "$defs": DEFINITIONS}, [{"p": 3}]),
        ({"$ref": "#/$defs/A%20b", "$defs": DEFINITIONS}, [{"t": "a"}]),
        ({"allOf": [STRINGS, {"properties": {"c": {"type": "null"}}, "required": ["a"]}]}, [{"a": "x", "c": None}]),
        ({**STRINGS, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, [{"a": "1"}, {"b": "1", "a": "2"}]),
        ({**STRINGS, "dependencies": {"a": ["b"]}}, [{"a": "1", "b": "2"}, {"b": "1"}]),
        ({**STRINGS, "if": {"properties": {"a": {"const": "x"}}}, "then": {"required": ["b"]}}, [{"a": "y"}]),
        ({**STRINGS, "not": {"required": ["a", "b"]}}, [{"a": "y"}, {}]),
        ({"properties": {"n": {"type": "number", "minimum": 0.1, "maximum": 0.9}}}, [{"n": 0.5}]),
        ({"properties": {"t": {"items": [{"type": "string"}, {"type": "null"}], "minItems": 2}}}, [{"t": ["a", None]}]),
        ({"properties": {"t": {"items": {"type": "string"}}}}, [{"t": ["</b>", "</arg_key>", "<tool_call>"]}]),
        ({"properties": {"ключ": {"type": "null"}}, "additionalProperties": {"type": "null"}}, [{"к": None}]),
        ({"properties": {f"k{at}": {"type": "string"} for at in range(64)}, "required": ["k40", "k9"]},
         [{f"k{at}": "v" for at in range(64)}, {"k9": "v", "k40": ""}]),
        ({"properties": {"o": {"properties": {f"k{at}": {"type": "null"} for at in range(9)}, "required": ["k7"]}}},
         [{"o": {"k7": None, "k0": None}}, {"o": {"k0": None, "k7": None}}]),
    ],
)  # fmt: skip
def test_the_odd_corners_of_json_schema(schema: Any, valid: list[Any]) -> None:
    tools, grammar = compiled(schema)
    for arguments in valid:
        assert validator(schema).is_valid(arguments)
        text = render_call("f", arguments)
        assert refused_at(grammar, text) is None, text
        (call,) = parse(text, tools, reasoning=False).tool_calls
        assert (json.loads(call.arguments), call.status.kind) == (arguments, "ok")
    rng = seeded(1)
    for _ in range(20):
        sampled = sample(grammar, rng)
        assert sampled is None or unsound(tools, sampled) is None
