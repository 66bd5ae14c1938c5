"""Chunks in OpenAI's form."""

from components.frontend.chunks import ChunkWriter, delta_of
from toolcall import ArgumentsDelta, CallEnd, CallStart, CallStatus, ContentDelta, ReasoningDelta


def test_events_that_came_together_are_one_delta() -> None:
    delta = delta_of([ReasoningDelta("a"), ReasoningDelta("b"), ContentDelta("c"), ContentDelta("d")])

    assert delta == {"reasoning_content": "ab", "content": "cd"}


def test_a_call_and_the_first_of_its_arguments_share_an_entry() -> None:
    delta = delta_of(
        [CallStart(0, "f"), ArgumentsDelta(0, '{"a"'), ArgumentsDelta(0, ": 1}"), CallEnd(0, CallStatus("ok"))]
    )

    (entry,) = delta["tool_calls"]
    assert entry["id"].startswith("call_")
    assert entry == {
        "index": 0,
        "id": entry["id"],
        "type": "function",
        "function": {"name": "f", "arguments": '{"a": 1}'},
    }


def test_later_arguments_carry_only_their_index() -> None:
    assert delta_of([ArgumentsDelta(1, "x")])["tool_calls"] == [{"index": 1, "function": {"arguments": "x"}}]


def test_two_calls_in_one_delta_keep_their_order_and_ids() -> None:
    entries = delta_of([ArgumentsDelta(0, "}"), CallStart(1, "g")])["tool_calls"]

    assert [entry["index"] for entry in entries] == [0, 1]
    assert "id" not in entries[0]


def test_the_role_is_said_once() -> None:
    writer = ChunkWriter("r", "glm")

    first, second = writer.delta({"content": "a"}), writer.delta({"content": "b"}, finish_reason="stop")

    assert first["choices"][0]["delta"] == {"role": "assistant", "content": "a"}
    assert second["choices"][0] == {"index": 0, "delta": {"content": "b"}, "finish_reason": "stop"}
    assert first["id"] == second["id"] == "chatcmpl-r"


def test_usage_has_no_choice() -> None:
    chunk = ChunkWriter("r", "glm").usage({"prompt_tokens": 1})

    assert (chunk["choices"], chunk["usage"]) == ([], {"prompt_tokens": 1})
