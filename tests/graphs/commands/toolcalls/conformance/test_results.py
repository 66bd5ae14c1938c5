from typing import Any

import msgspec
import pytest

from components.peers.protocol import Answer
from graphs.commands.toolcalls.conformance.faults import FAULTS, INVALID_JSON
from graphs.commands.toolcalls.conformance.results import Parser, Result, Score, result
from tests.graphs.commands.toolcalls.conformance.conftest import CASE, CUT
from toolcall.conformance import Case, ReadCall, Reading

CALL_CASE = msgspec.convert(CASE, Case)
RIGHT = Reading("", "Let me see.", (ReadCall("get_weather", '{"city": "Lima"}'),), "tool_calls")


def judged(whole: Reading | None, streamed: Reading | None, case: Case = CALL_CASE) -> Result:
    answers = [Answer(case.id, "whole", each, None if each else "refused") for each in (whole, streamed)]
    return result(case, answers[0], answers[1])


def changed(**fields: Any) -> Reading:
    return msgspec.structs.replace(RIGHT, **fields)


def arguments(text: str) -> Reading:
    return changed(tool_calls=(ReadCall("get_weather", text),))


def test_each_mode_is_judged_by_itself() -> None:
    found = judged(RIGHT, changed(content="lost", tool_calls=()))

    assert found.whole.right
    assert found.whole.calls_right
    assert found.streamed.wrong == ("content", "tool_calls")
    assert not found.agree


@pytest.mark.parametrize(
    ("streamed", "agree"),
    [
        (RIGHT, True),
        (changed(content=" Let me\n\nsee. "), True),
        (arguments('{"city":"Lima"}'), True),
        (arguments('{"city": "Quito"}'), False),
        (arguments('{"city": "Lima"'), False),
        (changed(finish_reason="stop"), False),
        (changed(reasoning="r"), False),
        (None, False),
    ],
)
def test_modes_agree_by_the_suite_s_own_rules(streamed: Reading | None, agree: bool) -> None:
    assert judged(RIGHT, streamed).agree is agree


def test_modes_agree_in_what_they_get_wrong() -> None:
    assert judged(arguments("{"), arguments("{")).agree
    assert not judged(arguments("{"), arguments("{}")).agree
    assert judged(None, None).agree


def test_a_refused_case_is_wrong_in_all_that_is_expected_of_it() -> None:
    found = judged(None, None)
    assert found.whole.wrong == ("content", "tool_calls", "finish_reason")
    assert not found.whole.calls_right
    assert found.whole.error == "refused"


def test_a_refused_case_of_which_nothing_is_expected_is_still_wrong() -> None:
    assert not judged(None, None, Case(id="c")).whole.right


def test_scores_count_by_fault_class() -> None:
    cut = msgspec.convert(CUT, Case)
    parser = Parser(
        "p", "1", (judged(RIGHT, arguments("{")), judged(None, None), judged(RIGHT, Reading("", "", (), "length"), cut))
    )

    assert parser.score("basic_call") == Score(
        cases=2,
        right=(1, 0),
        calls_right=(1, 0),
        faults=dict.fromkeys(FAULTS, (0, 0)) | {INVALID_JSON: (0, 1)},
        errors=(1, 1),
        modes_differ=1,
    )
    assert parser.score("truncation").right == (0, 1)
    assert parser.score().cases == 3
    plain = parser.plain()
    assert (plain["all"]["right"], plain["kinds"]["truncation"]["right"]) == ((1, 1), (0, 1))
    assert plain["results"][1]["whole"]["error"] == "refused"
