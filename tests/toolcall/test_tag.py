import json
from typing import Any

import pytest

from tests.conformance.cases import load
from tests.toolcall.glm_matcher import admits, compile_tag, refused_at
from tests.toolcall.judge import function
from toolcall import SchemaError, ToolSet, build_response_tag, build_tag, is_shallow, parse, parse_tools, render_call
from toolcall.tag import Reasoning

READ = function({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}, "read")
NOW = function({"type": "object", "properties": {}}, "now")
CALL = render_call("read", {"path": "a"})


def allowed(tools: ToolSet, *texts: str, reasoning: Reasoning = "none") -> list[bool]:
    tag = build_tag(tools, reasoning=reasoning)
    assert tag is not None
    grammar = compile_tag(tag)
    return [admits(grammar, text) for text in texts]


def test_auto_admits_text_calls_and_text_between() -> None:
    assert all(allowed(parse_tools([READ, NOW]), "Hi.", CALL, f"First {CALL} then {render_call('now', {})} done.", ""))


def test_required_begins_with_a_call() -> None:
    assert allowed(parse_tools([READ, NOW], "required"), CALL, CALL + CALL, "Hi.", "") == [True, True, False, False]


def test_named_is_one_call_to_that_tool() -> None:
    tools = parse_tools([READ, NOW], {"type": "function", "function": {"name": "read"}})
    assert allowed(tools, CALL, render_call("now", {}), CALL + CALL, "Hi.") == [True, False, False, False]


def test_without_parallel_calls_nothing_follows_the_first() -> None:
    assert allowed(parse_tools([READ], None, False), CALL, f"Hi. {CALL}", CALL + CALL) == [True, True, False]


def test_nothing_is_constrained_without_tools_or_choice() -> None:
    assert build_tag(parse_tools([]), reasoning="none") is None
    assert build_tag(parse_tools([READ], "none"), reasoning="tag") is None


def test_reasoning_in_the_tag_comes_first_and_holds_no_call() -> None:
    texts = ("think</think>Hi.", f"think</think>{CALL}", f"think {CALL}</think>", "Hi.", "a <tool_call></think>b")
    assert allowed(parse_tools([READ]), *texts, reasoning="tag") == [True, True, False, False, False]


def test_reasoning_of_the_engine_is_not_in_the_tag() -> None:
    assert allowed(parse_tools([READ]), CALL, f"think</think>{CALL}", reasoning="engine") == [True, False]


def test_equal_requests_share_one_tag() -> None:
    tag = build_tag(parse_tools([READ, NOW]), reasoning="none")
    assert build_tag(parse_tools([json.loads(json.dumps(READ)), NOW]), reasoning="none") is tag
    assert build_tag(parse_tools([READ]), reasoning="none") != tag
    assert build_tag(parse_tools([READ, NOW]), reasoning="tag") != tag


@pytest.mark.parametrize("case", load("schemas.jsonl"), ids=lambda case: str(case["id"]))
def test_the_tools_of_the_corpus_are_held_to_their_schemas(case: dict[str, Any]) -> None:
    tools = parse_tools([case["tool"]])
    tool = tools.tools[0]
    tag = build_tag(tools, reasoning="none")
    assert tag is not None
    grammar = compile_tag(tag)
    for arguments in case["valid"]:
        for newlines in (False, True):
            text = render_call(tool.name, arguments, newlines=newlines)
            assert refused_at(grammar, text) is None, text
            (call,) = parse(text, tools, reasoning=False).tool_calls
            assert (json.loads(call.arguments), call.status.kind) == (arguments, "ok")
    for at, arguments in enumerate(case["invalid"]):
        if at not in case["wire_ambiguous"] and admits(grammar, render_call(tool.name, arguments)):
            keywords = {error.schema_path[-1] for error in tool.validator.iter_errors(arguments)}
            assert keywords <= {each.keyword for each in tool.remainder} | {"anyOf"}, arguments


def test_all_tools_of_the_corpus_fit_one_tag() -> None:
    cases = load("schemas.jsonl")
    tools = parse_tools([case["tool"] for case in cases])
    texts = [render_call(tool.name, case["valid"][0]) for tool, case in zip(tools.tools, cases, strict=True)]
    assert all(allowed(tools, *texts))
    assert not is_shallow(tools)


def test_a_tag_too_large_to_compile_is_shallow_but_still_safe() -> None:
    def large(at: int) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": {f"{at}_{n}": {"enum": [f"{at}{n}{x}" for x in range(40)]} for n in range(40)},
        }

    properties = {"s": {"type": "string"}} | {f"arg{at}": large(at) for at in range(40)}
    parameters = {"type": "object", "properties": properties, "required": ["s"]}
    tools = parse_tools([function(parameters)])
    assert is_shallow(tools)
    good = render_call("f", {"s": "x", "arg3": {"unchecked": 1}})
    bad = (
        render_call("f", {"arg3": {}}),
        render_call("f", {"s": "x", "evil": 1}),
        render_call("f", {"s": "x", "arg3": 1})[:-20],
    )
    assert allowed(tools, good, *bad) == [True, False, False, False]


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        (None, '{"a": [1, "</arg_value>"]}', "[1]"),
        ({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}, '{"n": 3}', '{"n": "3"}'),
        ({"type": "string"}, '"free, \\"text\\""', "3"),
        ({"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 2}, '["a", "b"]', '["a", "b", "a"]'),
    ],
)
def test_a_response_format_is_held_to_its_schema(schema: dict[str, Any] | None, good: str, bad: str) -> None:
    grammar = compile_tag(build_response_tag(schema, reasoning="none"))
    assert (admits(grammar, good), admits(grammar, bad)) == (True, False)
    thinking = compile_tag(build_response_tag(schema, reasoning="tag"))
    assert (admits(thinking, f"hm</think>{good}"), admits(thinking, good)) == (True, False)


@pytest.mark.parametrize("schema", [{"type": "strnig"}, {"$ref": "#/nowhere"}, {"type": "integer", "enum": ["a"]}])
def test_an_unusable_response_schema_is_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(SchemaError, match=r"^response_format\.json_schema\.schema"):
        build_response_tag(schema, reasoning="none")
