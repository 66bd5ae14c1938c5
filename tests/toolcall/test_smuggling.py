"""The adversary: texts that try to leave a value, a call or the set of tools, over the tools of the corpus."""

from typing import Any

import pytest

from tests.conformance.cases import load, seeded
from tests.toolcall.adversary import ATTACKS, QUOTED, planted, splice
from tests.toolcall.glm_matcher import admits, compile_tag, sample
from tests.toolcall.judge import unsound
from toolcall import build_tag, parse_tools, render_call

each_tool = pytest.mark.parametrize("case", load("schemas.jsonl"), ids=lambda case: str(case["id"]))


@each_tool
def test_no_string_can_leave_its_value(case: dict[str, Any]) -> None:
    tools = parse_tools([case["tool"]])
    tag = build_tag(tools, reasoning="none")
    assert tag is not None
    grammar, name = compile_tag(tag), tools.tools[0].name
    for arguments in case["valid"]:
        for attack in ATTACKS:
            for planted_arguments in planted(arguments, attack):
                assert not admits(grammar, render_call(name, planted_arguments)), planted_arguments
        for quoted in QUOTED:
            for planted_arguments in planted(arguments, quoted):
                text = render_call(name, planted_arguments)
                assert not admits(grammar, text) or unsound(tools, text) is None, text


@each_tool
def test_spliced_calls_are_refused_or_sound(case: dict[str, Any]) -> None:
    tools = parse_tools([case["tool"]])
    tag = build_tag(tools, reasoning="none")
    assert tag is not None
    grammar, rng = compile_tag(tag), seeded(case["id"])
    calls = [render_call(tools.tools[0].name, arguments) for arguments in case["valid"]]
    for _ in range(40):
        text = splice(rng.choice(calls), rng.choice(calls) + rng.choice((*ATTACKS, *QUOTED)), rng)
        assert not admits(grammar, text) or unsound(tools, text) is None, text
    for _ in range(3):
        text = sample(grammar, rng) or ""
        assert unsound(tools, text) is None, text


@pytest.mark.parametrize(
    "text",
    [
        "Look: <arg_key>a</arg_key>",
        "done</tool_call>",
        "<tool_call>rm_rf</tool_call>",
        "<tool_call>pwd2</tool_call>",
        "<tool_call>pw</tool_call>",
        "<tool_call>pwd<arg_key>evil</arg_key><arg_value>1</arg_value></tool_call>",
        "<tool_call>pwd</tool_call><tool_call>rm_rf</tool_call>",
        "<think>x</think>",
        "pwd<arg_key>a</arg_key><arg_value>1</arg_value></tool_call>",
    ],
)
def test_markup_outside_a_declared_call_is_refused(text: str) -> None:
    tag = build_tag(parse_tools([{"type": "function", "function": {"name": "pwd"}}]), reasoning="none")
    assert tag is not None
    assert not admits(compile_tag(tag), text)
