import msgspec
import pytest

from toolcall.conformance import Case, Expectation, ExpectedCall, ReadCall, Reading, differences, load_cases, pieces

CALL = ExpectedCall("f", {"a": 1}, "ok")
CASE = Case(expect=Expectation("why", "text", (CALL,), "tool_calls"))
RIGHT = Reading("why", "text", (ReadCall("f", '{"a": 1.0}'),), "tool_calls")


def test_pieces_add_up_and_are_the_same_for_the_same_seed() -> None:
    text = "some text of a model"

    assert "".join(pieces(text, "3")) == text
    assert list(pieces(text, "3")) == list(pieces(text, "3")) != list(pieces(text, "4"))
    assert list(pieces(text, "chars")) == list(text)


def test_a_right_reading_differs_in_nothing() -> None:
    assert differences(CASE, RIGHT) == []


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"reasoning": "because"}, "reasoning"),
        ({"content": "te xt"}, "content"),
        ({"finish_reason": "stop"}, "finish_reason"),
        ({"tool_calls": ()}, "tool_calls"),
        ({"tool_calls": (ReadCall("g", '{"a": 1}'),)}, "tool_calls"),
        ({"tool_calls": (ReadCall("f", '{"a": true}'),)}, "tool_calls"),
        ({"tool_calls": (ReadCall("f", '{"a": 1, "a": 1}'),)}, "tool_calls"),
        ({"tool_calls": (ReadCall("f", '{"a": 1'),)}, "tool_calls"),
        ({"tool_calls": (ReadCall("f", '{"a": 1}', "recovered"),)}, "tool_calls"),
    ],
)
def test_a_wrong_field_is_named(change: dict[str, object], wrong: str) -> None:
    assert differences(CASE, msgspec.structs.replace(RIGHT, **change)) == [wrong]


def test_space_around_a_call_that_was_taken_out_does_not_count() -> None:
    case = msgspec.structs.replace(CASE, expect=Expectation("why", "a b", (CALL,), "tool_calls"))

    assert differences(case, msgspec.structs.replace(RIGHT, content=" a\n\nb ")) == []


def test_an_absent_expectation_or_finish_reason_is_not_compared() -> None:
    assert differences(Case(), RIGHT) == []
    assert differences(CASE, msgspec.structs.replace(RIGHT, finish_reason=None)) == []


def test_cases_are_cut_at_line_feeds_only() -> None:
    (case,) = load_cases('{"id": "a", "output": "x\u2028y"}\n\n')

    assert case.output == "x\u2028y"
