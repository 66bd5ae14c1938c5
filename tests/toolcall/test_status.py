from toolcall import ArgumentsDelta, CallEnd, CallStart, CallStatus, ContentDelta, Event, ReasoningDelta, ToolCall
from toolcall.status import collect

OK = CallStatus("ok")


def test_events_add_up_to_a_message() -> None:
    events: list[Event] = [
        ReasoningDelta("a"), ReasoningDelta("b"), ContentDelta("c"), CallStart(0, "f"), ArgumentsDelta(0, '{"x"'),
        ArgumentsDelta(0, ": 1}"), CallEnd(0, OK), ContentDelta("d"),
    ]  # fmt: skip
    message = collect(events, finish_reason="tool_calls", truncated=None)
    assert (message.reasoning, message.content) == ("ab", "cd")
    assert message.tool_calls == (ToolCall("f", '{"x": 1}', OK),)


def test_a_call_without_an_end_is_none() -> None:
    message = collect([CallStart(0, "f"), ArgumentsDelta(0, "{")], finish_reason="length", truncated="<tool_call>f")
    assert message.tool_calls == ()
    assert message.truncated == "<tool_call>f"
