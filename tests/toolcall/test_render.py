from toolcall import render_call
from toolcall.render import render_value

ARGUMENTS = {"path": "a <b>&lt;", "n": 3, "list": ["é", None]}


def test_a_call_is_written_inline_since_47() -> None:
    assert render_call("f", ARGUMENTS) == (
        "<tool_call>f<arg_key>path</arg_key><arg_value>a <b>&lt;</arg_value>"
        "<arg_key>n</arg_key><arg_value>3</arg_value>"
        '<arg_key>list</arg_key><arg_value>["é", null]</arg_value></tool_call>'
    )
    assert render_call("f", {}) == "<tool_call>f</tool_call>"


def test_a_call_is_written_in_lines_before() -> None:
    assert render_call("f", {"n": True}, newlines=True) == (
        "<tool_call>f\n<arg_key>n</arg_key>\n<arg_value>true</arg_value>\n</tool_call>"
    )
    assert render_call("f", {}, newlines=True) == "<tool_call>f\n</tool_call>"


def test_only_strings_are_raw() -> None:
    assert [render_value(value) for value in ("1", 1, "null", None)] == ["1", "1", "null", "null"]
