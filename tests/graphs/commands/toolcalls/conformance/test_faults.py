from typing import Any

import msgspec
import pytest

from graphs.commands.toolcalls.conformance import faults as f
from tests.graphs.commands.toolcalls.conformance.conftest import CASE, CUT
from toolcall.conformance import Case, ReadCall, Reading

CALL_CASE = msgspec.convert(CASE, Case)
RIGHT = ReadCall("get_weather", '{"city": "Lima"}')


def found(*calls: ReadCall, content: str = "Let me see.", case: Case = CALL_CASE) -> tuple[str, ...]:
    return f.faults(case, Reading("", content, calls))


def test_a_right_reading_has_none() -> None:
    assert found(RIGHT) == ()


def test_calls_are_lost_or_made_up() -> None:
    assert found() == (f.LOST,)
    assert found(RIGHT, RIGHT) == (f.MADE_UP,)
    assert found(RIGHT, content="", case=msgspec.convert(CUT, Case)) == (f.MADE_UP,)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"city": "a", "city": "a"}', '{"city": NaN}', '{"city": "a"}}'])
def test_arguments_that_are_not_one_json_object_are_not_json(text: str) -> None:
    assert found(ReadCall("get_weather", text)) == (f.INVALID_JSON,)


def test_arguments_are_lost_where_there_were_some() -> None:
    assert found(ReadCall("get_weather", "{}")) == (f.EMPTIED,)
    zero = CASE | {"expect": {"tool_calls": [{"name": "get_weather", "arguments": {}}]}}
    assert found(ReadCall("get_weather", "{}"), case=msgspec.convert(zero, Case)) == ()


def test_markup_does_not_belong_in_a_name() -> None:
    assert found(ReadCall("get_weather</arg_value>", '{"city": "Lima"}')) == (f.MARKUP,)


@pytest.mark.parametrize(
    ("expect", "faults"),
    [
        ({"content": "text", "tool_calls": []}, (f.NOTHING,)),
        ({"content": " ", "tool_calls": []}, ()),
        ({"content": None}, ()),
        ({"tool_calls": [{"name": "g", "arguments": {}}]}, (f.LOST, f.NOTHING)),
    ],
)
def test_nothing_is_returned_where_something_is_due(expect: dict[str, Any], faults: tuple[str, ...]) -> None:
    assert found(content="\n", case=msgspec.convert(CASE | {"expect": expect}, Case)) == faults
