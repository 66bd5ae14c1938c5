import json

import pytest

from tests.toolcall.judge import function
from toolcall import parse_tools
from toolcall.call import Call
from toolcall.value_scan import ValueScan

PROPERTIES = {"s": {"type": "string"}, "j": {"type": "object"}, "u": {"type": ["string", "integer"]}}
TOOL = parse_tools([function({"properties": PROPERTIES})]).tools[0]
END = "</arg_value></tool_call>"


def scan(key: str, text: str, *, balanced: bool = True, unopened: bool = False) -> tuple[Call, ValueScan, int, bool]:
    call = Call("f", TOOL)
    value = ValueScan(
        call, key, call.argument(key), stream=True, balanced=balanced, in_reasoning=False, unopened=unopened
    )
    at, ended = value.scan(text, 0, final=False)
    return call, value, at, ended


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("s", ""),
        ("s", "a </arg_value> b"),
        ("s", "grep '</tool_call>'"),
        ("s", "<arg_key> and </arg_key>"),
        ("s", "<tool_call>g<arg_key>k</arg_key><arg_value>v</arg_value></tool_call>"),
        ("j", '{"a": "</arg_value></tool_call>"}'),
        ("u", "null </arg_value> b"),
    ],
)
def test_a_value_ends_where_structure_follows(key: str, value: str) -> None:
    call, scanned, at, ended = scan(key, value + END + "<tool_call>")
    assert (at, ended) == (len(value), True)
    scanned.end()
    call.close()
    read = json.loads(call.take())[key]
    assert read == (json.loads(value) if key == "j" else value)


def test_json_without_its_end_tag_ends_at_the_next_marker() -> None:
    call, _, at, ended = scan("j", '{"a": 1}</tool_call>')
    assert (at, ended) == (8, True)
    assert call.repairs == ["j: missing </arg_value>"]


def test_streaming_stops_where_the_end_may_lie() -> None:
    call, scanned, _, _ = scan("s", "a</tool_call>b")
    assert call.take() == '{"s": "a'
    scanned.end()
    assert call.take() == '</tool_call>b"'


def test_an_end_hidden_by_balance_is_found_again() -> None:
    text = "<tool_call>g<arg_key>k</arg_key><arg_value>v"
    _, scanned, at, ended = scan("s", text + END + "rest")
    assert not ended
    assert scanned.fall_back("") == len(text)
    _, scanned, at, ended = scan("s", text + END, balanced=False)
    assert (at, ended) == (len(text), True)


def test_a_value_without_any_end_has_none() -> None:
    _, scanned, _, _ = scan("s", "a </arg_value> b")
    assert scanned.fall_back("") is None
    call, scanned, _, _ = scan("s", "a.txt</tool_call>")
    assert scanned.fall_back("") == 5
    assert call.repairs == ["s: missing </arg_value>"]


def test_markup_in_a_value_that_was_never_opened_refuses_it() -> None:
    _, scanned, _, _ = scan("s", "a <tool_call>b", unopened=True)
    assert scanned.refused
    _, scanned, _, ended = scan("s", "a" + END, unopened=True)
    assert ended
    assert not scanned.refused


@pytest.mark.parametrize(("key", "text"), [("s", "abc"), ("j", '{"a": "b')])
def test_text_without_markup_is_crossed_at_once(key: str, text: str) -> None:
    call = Call("f", TOOL)
    value = ValueScan(call, key, call.argument(key), stream=True, balanced=True, in_reasoning=False, unopened=False)
    assert value.skip(text)
    assert value.text() == text


def test_a_backslash_at_the_end_of_json_is_looked_at_again() -> None:
    call = Call("f", TOOL)
    value = ValueScan(call, "j", call.argument("j"), stream=True, balanced=True, in_reasoning=False, unopened=False)
    assert not value.skip('{"a": "\\')
