"""What became of the calls of one answer."""

from typing import Any

import pytest

from components.frontend.tally import OTHER_KEYWORD, SentCall, Tally
from toolcall import Parser, parse_tools
from toolcall.buckets import Judge

ZIP = {"type": "string", "not": {"pattern": "^L"}}
"""No tag can say what a string is not."""


def tool(name: str, **properties: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": properties}}}


def call(name: str, key: str, value: str) -> str:
    return f"<tool_call>{name}<arg_key>{key}</arg_key><arg_value>{value}</arg_value></tool_call>"


def tallied(text: str, *tools: dict[str, Any]) -> list[SentCall]:
    parsed = parse_tools(list(tools))
    parser, tally = Parser(parsed, reasoning=False), Tally(parsed, Judge(tools))
    for character in text:
        tally.read(parser.feed(character))
    tally.read(parser.finish("stop"))
    return tally.sent


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("12345", SentCall("ok", "ok", checked=True)),
        ("Lima", SentCall("invalid", "SchemaMismatch", checked=True, failed=frozenset({"not"}))),
    ],
)
def test_a_keyword_that_the_tag_leaves_open_is_checked(value: str, expected: SentCall) -> None:
    assert tallied(call("find", "zip", value), tool("find", zip=ZIP)) == [expected]


def test_a_tool_whose_tag_leaves_nothing_open_is_not_checked() -> None:
    found = tallied(call("add", "a", "x"), tool("add", a={"type": "integer"}))

    assert found == [SentCall("invalid", "SchemaMismatch")]


def test_a_failure_that_the_tag_would_have_prevented_is_told_apart() -> None:
    (found,) = tallied(call("find", "n", "x"), tool("find", zip=ZIP, n={"type": "integer"}))

    assert found.failed == {OTHER_KEYWORD}


def test_a_failure_under_an_open_keyword_is_that_keywords() -> None:
    odd = {"if": {"properties": {"a": {"const": 1}}, "required": ["a"]}, "then": {"required": ["b"]}}
    (found,) = tallied(call("f", "x", '{"a": 1}'), tool("f", x={"type": "object", **odd}))

    assert found.failed & {"if", "then"}


def test_no_name_of_the_client_becomes_a_keyword() -> None:
    names = tool("f", x={"type": "object", "properties": {"not_mine": False}, "minProperties": 1})
    (found,) = tallied(call("f", "x", '{"not_mine": 1}'), names)

    assert found.failed == {OTHER_KEYWORD}


def test_openrouters_judgement_is_of_the_original_schema_and_the_status_of_the_mended_one() -> None:
    mended = tool("f", x={"type": "integer", "minLength": None})
    asserted = tool("g", x={"type": "string", "format": "uri"})

    assert tallied(call("f", "x", '"a"'), mended) == [SentCall("invalid", "ok")]
    assert tallied(call("g", "x", "example"), asserted) == [SentCall("ok", "SchemaMismatch")]


def test_calls_count_in_their_order_and_an_unfinished_one_not() -> None:
    text = call("rm_rf", "a", "1") + call("add", "a", "1") + "<tool_call>add<arg_key>a"

    found = tallied(text, tool("add", a={"type": "integer"}))

    assert [(each.status, each.bucket) for each in found] == [("undeclared", "UnknownName"), ("ok", "ok")]
