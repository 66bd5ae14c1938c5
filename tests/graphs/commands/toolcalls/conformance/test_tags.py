from typing import Any

import msgspec
import pytest

from graphs.commands.toolcalls.conformance.suite import TagCase
from graphs.commands.toolcalls.conformance.tags import TagReport, judge_tags
from tests.graphs.commands.toolcalls.conformance.conftest import TAG
from tests.graphs.commands.toolcalls.conftest import CALL

UNDECLARED = CALL.replace("get_weather", "rm_rf")


def judged(*changes: dict[str, Any]) -> TagReport:
    return judge_tags([msgspec.convert(TAG | change, TagCase) for change in changes])


def test_texts_that_come_out_as_they_must_are_counted() -> None:
    report = judged(
        {},
        {"text": UNDECLARED, "accepted": False},
        {"text": "no call", "tool_choice": "required", "accepted": False},
        {"text": f"Hm.</think>{CALL}", "reasoning": "tag"},
        {"text": CALL + CALL, "parallel_tool_calls": False, "accepted": False},
        {"text": UNDECLARED, "tool_choice": "none"},
    )
    assert report == TagReport(6, ())
    assert str(report) == "Tags: 6 of 6 texts accepted or refused as they must be."


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"accepted": False}, "tag-1: accepted, and must be refused"),
        ({"text": UNDECLARED}, "tag-1: refused at byte 11, and must be accepted"),
        ({"tools": [{}]}, "tag-1: tools[0]"),
    ],
)
def test_a_text_that_does_not_is_named(change: dict[str, Any], problem: str) -> None:
    report = judged({}, change)
    (wrong,) = report.wrong
    assert wrong.startswith(problem)
    assert str(report).startswith("Tags: 1 of 2")
