from tests.toolcall.judge import function
from toolcall import parse_tools, validate


def test_arguments_are_checked_against_the_clients_schema() -> None:
    tools = parse_tools([function({"properties": {"s": {"maxLength": 2}, "n": {"multipleOf": 2}}})])
    assert validate(tools, "f", {"s": "ab", "n": 4}) == []
    found = validate(tools, "f", {"s": "abc", "n": 3})
    assert {(problem.path, problem.keyword) for problem in found} == {("$.s", "maxLength"), ("$.n", "multipleOf")}


def test_an_undeclared_tool_is_one_problem() -> None:
    (problem,) = validate(parse_tools([]), "g", {})
    assert "no tool 'g'" in problem.message
