"""`dynamo toolcall tag`."""

from tests.graphs.commands.toolcalls.conftest import TOOLS, Run
from toolcall import build_tag, parse_tools


def test_it_writes_the_tag_that_the_frontend_sends(run: Run) -> None:
    required = parse_tools(TOOLS, "required", parallel_tool_calls=False)

    (tag,) = run("tag", {"tools": TOOLS, "tool_choice": "required", "parallel_tool_calls": False, "reasoning": "tag"})

    assert tag == build_tag(required, reasoning="tag")


def test_where_nothing_is_constrained_it_writes_null(run: Run) -> None:
    assert run("tag", {"tools": TOOLS, "tool_choice": "none"}, {}) == [None, None]
