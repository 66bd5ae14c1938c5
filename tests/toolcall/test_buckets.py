"""OpenRouter's buckets. The verdicts on formats and schemas were compared with @cfworker/json-schema 4.1.6."""

import json
from pathlib import Path
from typing import Any

import pytest

from toolcall.buckets import Bucket, Judge, answer_bucket

SCHEMAS = Path(__file__).parents[1] / "conformance" / "data" / "schemas.jsonl"


def judged(parameters: Any, arguments: str) -> Bucket:
    return Judge([{"type": "function", "function": {"name": "f", "parameters": parameters}}]).call("f", arguments)


def one(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {"x": schema}}


@pytest.mark.parametrize(
    "arguments",
    ["", "{", "{a: 1}", '{"a": 1} x', '{"a": NaN}', '{"a": -Infinity}', '{"a": "\t"}', '{"a": 01}', "\ufeff{}"],
)
def test_what_json_parse_throws_at_is_invalid_json_whatever_the_schema(arguments: str) -> None:
    assert judged({"type": "object"}, arguments) == judged(None, arguments) == "InvalidJson"


def test_a_name_that_was_not_offered_is_unknown() -> None:
    judge = Judge([{"type": "function", "name": "f", "parameters": {}}])

    assert (judge.call("f", "{}"), judge.call("F", "{}"), judge.call("g", "{}")) == ("ok", "UnknownName", "UnknownName")
    assert Judge(None).call("f", "{}") == "UnknownName"


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": "integer"}, "1.0", "1.5"),
        ({"type": "string", "minLength": 2}, '"🙂🙂"', '"🙂"'),
        ({"type": "string", "pattern": "^\\d+$"}, '"12"', '"\N{ARABIC-INDIC DIGIT ONE}"'),
        ({"enum": [1, None]}, "null", "true"),
        ({"oneOf": [{"type": "integer"}, {"minimum": 2}]}, "1", "3"),
        ({"$ref": "#/properties/y", "minimum": 5}, "1", '"a"'),
    ],
)
def test_arguments_are_held_to_draft_7(schema: dict[str, Any], good: str, bad: str) -> None:
    parameters = {"type": "object", "properties": {"x": schema, "y": {"type": "integer"}}}

    assert judged(parameters, f'{{"x": {good}}}') == "ok"
    assert judged(parameters, f'{{"x": {bad}}}') == "SchemaMismatch"


def test_arguments_that_are_no_object_are_the_schemas_business() -> None:
    assert (judged({"type": "object"}, "[]"), judged({}, "[]"), judged(None, "null")) == ("SchemaMismatch", "ok", "ok")


@pytest.mark.parametrize(
    ("form", "good", "bad"),
    [
        ("date-time", "2020-01-01T10:00:00Z", "2020-01-01T10:00:00"),
        ("date-time", "2020-01-01 10:00:00+02:00", "2020-02-30T10:00:00Z"),
        ("time", "10:00:00Z", "10:00:00"),
        ("date", "2000-02-29", "1900-02-29"),
        ("email", "user+tag@example.com", "user"),
        ("uri", "mailto:a@b.c", "example.com"),
        ("hostname", "example.com", "a_b.com"),
        ("ipv6", "::1", "x"),
        ("uuid", "123E4567-e89b-12d3-a456-426614174000", "123e4567e89b12d3a456426614174000"),
        ("duration", "P1Y2M3DT4H", "P1Y1D"),
    ],
)
def test_formats_are_asserted_as_cfworker_does(form: str, good: str, bad: str) -> None:
    schema = one({"type": "string", "format": form})

    assert judged(schema, json.dumps({"x": good})) == "ok"
    assert judged(schema, json.dumps({"x": bad})) == "SchemaMismatch"


@pytest.mark.parametrize("form", ["color", "iri", "idn-email"])
def test_a_format_that_cfworker_does_not_know_holds_nothing(form: str) -> None:
    assert judged(one({"type": "string", "format": form}), '{"x": " "}') == "ok"


@pytest.mark.parametrize("schema", [None, True, one({"minLength": None}), one({"$ref": "#/nowhere"})])
def test_a_schema_that_is_absent_or_does_not_compile_passes_everything(schema: Any) -> None:
    assert judged(schema, '{"x": 1}') == "ok"


def test_what_cannot_be_judged_does_not_flatter_the_rate() -> None:
    assert judged(one({"type": "string", "pattern": "."}), '{"x": "\\ud800"}') == "SchemaMismatch"


def test_the_valid_arguments_of_the_suite_are_good_and_the_invalid_ones_bad() -> None:
    verdicts: dict[str, set[Bucket]] = {"valid": set(), "invalid": set()}
    for line in SCHEMAS.read_text().splitlines():
        case = json.loads(line)
        tool = case["tool"]
        judge = Judge([tool])
        name = tool.get("function", tool)["name"]
        for kind, seen in verdicts.items():
            seen.update(judge.call(name, json.dumps(arguments)) for arguments in case[kind])

    assert verdicts == {"valid": {"ok"}, "invalid": {"SchemaMismatch"}}


def test_an_answer_is_worth_its_worst_call() -> None:
    assert answer_bucket(["ok", "SchemaMismatch", "UnknownName", "ok"]) == "UnknownName"
    assert answer_bucket(["UnknownName", "InvalidJson"]) == "InvalidJson"
    assert answer_bucket(["ok", "ok"]) == answer_bucket([]) == "ok"
