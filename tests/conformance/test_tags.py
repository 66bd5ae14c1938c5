import functools
from typing import Any

import pytest
import xgrammar

from tests.conformance.cases import TagCase, tag_cases
from tests.toolcall.glm_matcher import admits, compile_tag
from toolcall import build_tag, parse_tools

each_case = pytest.mark.parametrize("case", tag_cases(), ids=lambda case: str(case.id))


@functools.cache
def grammar_of(number: int) -> xgrammar.CompiledGrammar | None:
    case = tag_cases()[number]
    tools = parse_tools(case.tools, case.tool_choice, case.parallel_tool_calls)
    tag = build_tag(tools, reasoning=case.reasoning)
    return None if tag is None else compile_tag(tag)


def grammar(case: TagCase) -> Any:
    return grammar_of(tag_cases().index(case))


def admits_bytes(compiled: xgrammar.CompiledGrammar, text: str) -> bool:
    """Whether the text is admitted when the model spells its markup letter by letter."""
    matcher = xgrammar.GrammarMatcher(compiled)
    return all(matcher.accept_token(byte) for byte in text.encode()) and matcher.is_completed()


@each_case
def test_a_tag_admits_what_it_should_and_nothing_else(case: TagCase) -> None:
    compiled = grammar(case)
    assert (compiled is None or admits(compiled, case.text)) is case.accepted, case.why


@each_case
def test_markup_spelled_letter_by_letter_is_no_way_around(case: TagCase) -> None:
    compiled = grammar(case)
    assert (compiled is None or admits_bytes(compiled, case.text)) is case.accepted, case.why
