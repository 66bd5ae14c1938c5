from typing import Any

import msgspec
import pytest

from graphs.commands.toolcalls.conformance.schemas import SchemaReport, judge_schemas
from graphs.commands.toolcalls.conformance.suite import SchemaCase
from tests.graphs.commands.toolcalls.conformance.conftest import REPEATING, SCHEMA


def judged(**changes: Any) -> SchemaReport:
    return judge_schemas([msgspec.convert(SCHEMA | changes, SchemaCase)])


def test_what_the_tag_refuses_and_what_is_checked_after_are_counted_apart() -> None:
    assert judged() == SchemaReport(tools=1, valid=2, invalid=2, refused=1, checked_after=1, wrong=())


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"valid": [{"n": "x"}]}, "s-1: valid, and the tag refuses <tool_call>f"),
        ({"valid": [REPEATING]}, "s-1: not read back equal: <tool_call>f"),
        ({"invalid": [{"n": 1}]}, "s-1: invalid, and not reported after the call"),
        ({"tool": {}}, "s-1: tools[0]"),
    ],
)
def test_an_object_that_comes_out_otherwise_is_named(changes: dict[str, Any], problem: str) -> None:
    report = judged(**changes)
    assert report.wrong
    assert all(wrong.startswith(problem) for wrong in report.wrong)
