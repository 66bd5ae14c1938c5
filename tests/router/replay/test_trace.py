"""The data that a replay replays."""

import msgspec
import pytest

from router.replay.trace import Session, Trace, TraceError, Turn


def test_a_trace_is_a_value_that_json_carries_without_loss() -> None:
    turn = Turn(input_tokens=130, output_tokens=7, think_s=0.0, start_s=0.0, blocks=((0, 2),))
    trace = Trace("small", 64, (Session("a", (turn,)), Session("a/1", (turn,), arrival_s=2.5, parent="a")))

    assert msgspec.json.decode(msgspec.json.encode(trace), type=Trace) == trace
    assert hash(trace) == hash(msgspec.structs.replace(trace))
    with pytest.raises(AttributeError):
        trace.name = "other"  # type: ignore[misc]


def test_an_unreadable_trace_is_a_value_error() -> None:
    assert issubclass(TraceError, ValueError)
