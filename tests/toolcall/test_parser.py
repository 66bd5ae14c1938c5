import json
import time
from typing import Any

import pytest

from tests.toolcall.judge import function
from toolcall import (
    ArgumentsDelta,
    CallEnd,
    CallStart,
    CallStatus,
    ContentDelta,
    Event,
    Message,
    Parser,
    ReasoningDelta,
    ToolSet,
    parse,
    parse_tools,
    render_call,
)

PUT = function(
    {
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "line": {"type": "integer", "minimum": 1},
            "meta": {"type": "object"},
        },
        "required": ["path"],
    },
    "put",
)
NOW = function({"type": "object", "properties": {}}, "now")
TOOLS = parse_tools([PUT, NOW])
NOW_CALL = "<tool_call>now</tool_call>"


def put(**arguments: Any) -> str:
    return render_call("put", arguments)


def read(text: str, tools: ToolSet = TOOLS, *, reasoning: bool = False, finish: str = "stop") -> Message:
    return parse(text, tools, reasoning=reasoning, engine_finish=finish)


def fed(*chunks: str, reasoning: bool = False) -> list[list[Event]]:
    parser = Parser(TOOLS, reasoning=reasoning)
    return [parser.feed(chunk) for chunk in chunks]


def calls(message: Message) -> list[tuple[str, Any, str]]:
    return [(call.name, json.loads(call.arguments), call.status.kind) for call in message.tool_calls]


def test_plain_text_is_passed_on_at_once() -> None:
    assert fed("Hel", "lo <b", "> x") == [[ContentDelta("Hel")], [ContentDelta("lo <b")], [ContentDelta("> x")]]
    assert fed("a", "b", reasoning=True) == [[ReasoningDelta("a")], [ReasoningDelta("b")]]


def test_a_bracket_waits_only_while_it_may_be_markup() -> None:
    assert fed("a <", "tool", "s>") == [[ContentDelta("a ")], [], [ContentDelta("<tools>")]]


def test_string_arguments_are_streamed_as_they_come_and_escaped() -> None:
    events = fed("<tool_call>put<arg_key>path</arg_key>", "<arg_value>a\n", '"b" é', "</arg_value>", "</tool_call>")
    assert events == [
        [],
        [CallStart(0, "put"), ArgumentsDelta(0, '{"path": "a\\n')],
        [ArgumentsDelta(0, '\\"b\\" é')],
        [],
        [ArgumentsDelta(0, '"}'), CallEnd(0, CallStatus("ok"))],
    ]


def test_a_nullable_string_streams_once_it_cannot_be_null() -> None:
    opening = "<tool_call>put<arg_key>note</arg_key><arg_value>"
    assert fed(opening, "nu", "mber", " one")[1:] == [
        [], [ArgumentsDelta(0, '{"note": "number')], [ArgumentsDelta(0, " one")],
    ]  # fmt: skip


def test_json_arguments_come_whole() -> None:
    events = fed("<tool_call>put<arg_key>meta</arg_key><arg_value>{", '"a": 1', "}</arg_value></tool_call>")
    assert events[1] == []
    assert events[2][0] == ArgumentsDelta(0, '{"meta": {"a": 1}}')


def test_an_announced_call_that_never_closes_is_content_and_no_call() -> None:
    text = "<tool_call>put<arg_key>path</arg_key><arg_value>then the value follows."
    message = read(text)
    assert (message.content, calls(message), message.finish_reason) == (text, [], "stop")


def test_a_call_behind_a_mention_is_still_found() -> None:
    text = "<tool_call>put<arg_key>path</arg_key> opens it. " + NOW_CALL
    message = read(text)
    assert calls(message) == [("now", {}, "ok")]
    assert message.content == "<tool_call>put<arg_key>path</arg_key> opens it. "


def test_a_quoted_call_belongs_to_its_value() -> None:
    inner = put(path="x", line=3) + NOW_CALL
    assert calls(read(put(path=f"see {inner}") + NOW_CALL)) == [
        ("put", {"path": f"see {inner}"}, "ok"),
        ("now", {}, "ok"),
    ]


def test_half_a_quoted_call_does_not_swallow_what_follows() -> None:
    half = "see <tool_call>put<arg_key>path</arg_key><arg_value>x"
    message = read(put(path=half) + " Then. " + put(path=half) + NOW_CALL)
    assert calls(message) == [("put", {"path": half}, "ok"), ("put", {"path": half}, "ok"), ("now", {}, "ok")]
    assert message.content == " Then. "


def test_broken_json_does_not_swallow_what_follows() -> None:
    message = read(
        put(path="a") + '<tool_call>put<arg_key>meta</arg_key><arg_value>{"a": "x}</arg_value></tool_call>' + NOW_CALL
    )
    assert [call[::2] for call in calls(message)] == [("put", "ok"), ("put", "invalid"), ("now", "ok")]
    assert message.tool_calls[1].status.path == "$.meta"


def test_a_mention_in_reasoning_does_not_swallow_the_answer() -> None:
    mention = "I write <tool_call>put<arg_key>path</arg_key><arg_value> first."
    message = read(f"{mention}</think>Done.", reasoning=True)
    assert (message.reasoning, message.content, calls(message)) == (mention, "Done.", [])
    message = read(f"{mention}</think>{put(path='a')}", reasoning=True)
    assert (message.reasoning, calls(message)) == (mention, [("put", {"path": "a"}, "ok")])


def test_a_call_in_reasoning_ends_it() -> None:
    message = read(f"hm {NOW_CALL}</think>text", reasoning=True)
    assert (message.reasoning, message.content, calls(message)) == ("hm ", "text", [("now", {}, "ok")])


def test_a_call_in_reasoning_may_hold_the_end_of_reasoning_in_a_value() -> None:
    message = read(f"hm {put(path='say </think> ok')}", reasoning=True)
    assert (message.reasoning, calls(message)) == ("hm ", [("put", {"path": "say </think> ok"}, "ok")])


def test_an_undeclared_or_damaged_call_in_reasoning_is_reasoning() -> None:
    text = "a <tool_call>other</tool_call> b <tool_call>now</arg_value></tool_call>"
    message = read(f"{text}</think>c", reasoning=True)
    assert (message.reasoning, message.content, calls(message)) == (text, "c", [])


@pytest.mark.parametrize(
    ("key", "value", "path"),
    [("line", "0", "$.line"), ("line", "x", "$.line"), ("meta", "[]", "$.meta")],
)
def test_invalid_arguments_are_passed_on_with_their_path(key: str, value: str, path: str) -> None:
    text = f"<tool_call>put<arg_key>path</arg_key><arg_value>a</arg_value><arg_key>{key}</arg_key><arg_value>{value}"
    (call,) = read(f"{text}</arg_value></tool_call>").tool_calls
    assert (call.status.kind, call.status.path) == ("invalid", path)
    assert call.status.message
    assert json.loads(call.arguments)["path"] == "a"


def test_a_missing_argument_is_a_problem_of_the_whole() -> None:
    (call,) = read(put(line=3)).tool_calls
    assert (call.status.kind, call.status.path) == ("invalid", "$")


def test_a_repeated_key_keeps_its_first_value() -> None:
    twice = put(path="a").replace("</tool_call>", "") + put(path="b").removeprefix("<tool_call>put")
    (call,) = read(twice).tool_calls
    assert json.loads(call.arguments) == {"path": "a"}
    assert call.status == CallStatus("recovered", "path: given twice, the first kept")


def test_a_cut_call_is_reported_and_is_no_call() -> None:
    message = read(f"Now. {NOW_CALL}<tool_call>put<arg_key>path</arg_key><arg_value>ab", finish="length")
    assert (message.content, calls(message), message.finish_reason) == ("Now. ", [("now", {}, "ok")], "length")
    assert message.truncated == "<tool_call>put<arg_key>path</arg_key><arg_value>ab"


@pytest.mark.parametrize("length", range(2, len("<tool_call>")))
def test_a_cut_marker_does_not_leak(length: int) -> None:
    message = read("Hi " + "<tool_call>"[:length], finish="length")
    assert (message.content, message.truncated) == ("Hi ", "<tool_call>"[:length])


def test_a_cut_inside_a_mention_in_reasoning_loses_no_answer() -> None:
    mention = "I write <tool_call>put<arg_key>path</arg_key><arg_value> first."
    message = read(f"{mention}</think>The answer is", reasoning=True, finish="length")
    assert (message.reasoning, message.content, message.truncated) == (mention, "The answer is", None)


def test_the_engines_own_reason_is_kept() -> None:
    assert read("Hi", finish="content_filter").finish_reason == "content_filter"
    assert read(NOW_CALL, finish="length").finish_reason == "length"
    assert read(NOW_CALL).finish_reason == "tool_calls"
    assert read("Hi", finish="eos").finish_reason == "stop"


def test_only_the_first_call_counts_without_parallel_calls() -> None:
    parser = Parser(parse_tools([PUT, NOW], None, False), reasoning=False)
    events = parser.feed(NOW_CALL + put(path="a") + "text") + parser.finish("stop")
    assert events[0] == CallStart(0, "now")
    assert events[-1] == ContentDelta("text")
    assert len(events) == 4
    assert parser.dropped == 1


def test_without_a_choice_markup_is_content() -> None:
    message = read(NOW_CALL, parse_tools([NOW], "none"))
    assert (message.content, calls(message), message.finish_reason) == (NOW_CALL, [], "stop")


def test_the_form_that_fits_decides_how_values_are_read() -> None:
    def form(kind: str, value: Any) -> dict[str, Any]:
        return {"type": "object", "properties": {"kind": {"const": kind}, "v": value}, "required": ["kind", "v"]}

    tools = parse_tools([function({"anyOf": [form("text", {"type": "string"}), form("count", {"type": "integer"})]})])
    for kind, value in (("text", "42"), ("count", 42)):
        assert calls(read(render_call("f", {"kind": kind, "v": value}), tools)) == [
            ("f", {"kind": kind, "v": value}, "ok")
        ]


def test_whitespace_beside_calls_is_layout_and_elsewhere_is_kept() -> None:
    assert read(f"\n{NOW_CALL}\n{NOW_CALL}\n").content == ""
    assert read("\n  Hi\n").content == "\n  Hi\n"
    assert read("\n").content == "\n"


@pytest.mark.parametrize(
    ("opening", "unit"),
    [
        ("", "<tool_call>put<arg_key>path</arg_key><arg_value> </arg_value> <tool_call>other</tool_call> `"),
        ("", '<tool_call>put{"\\"'),
        ("", "<tool_call>put{}</arg_value>"),
        ("<tool_call>put", " " * 100),
        ('<tool_call>put{"path": "', "\\\n" * 30),
        ("", " \n</think>"),
    ],
)
def test_a_long_answer_takes_linear_time(opening: str, unit: str) -> None:
    def seconds(length: int) -> float:
        parser = Parser(TOOLS, reasoning=False)
        start = time.process_time()
        parser.feed(opening)
        for _ in range(length):
            parser.feed(unit[:40])
            parser.feed(unit[40:])
        parser.finish("stop")
        return time.process_time() - start

    seconds(100)
    assert seconds(1600) < 40 * max(seconds(200), 0.002)
