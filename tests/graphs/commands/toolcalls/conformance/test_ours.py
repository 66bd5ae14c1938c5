import msgspec

from graphs.commands.toolcalls.conformance import ours
from tests.graphs.commands.toolcalls.conformance.conftest import CASE, CUT
from toolcall.conformance import Case


def test_right_cases_are_right_however_they_are_cut() -> None:
    parser = ours.parser([msgspec.convert(case, Case) for case in (CASE, CUT)], 5)

    assert parser.name == "ours"
    assert parser.score().right == (2, 2)
    assert parser.score().modes_differ == 0


def test_a_wrong_expectation_is_told_by_field() -> None:
    case = msgspec.convert(CUT | {"expect": {"content": "text", "finish_reason": "stop"}}, Case)
    (result,) = ours.parser([case], 0).results

    assert (result.whole.cut, result.whole.wrong) == ("whole", ("content", "finish_reason"))
    assert (result.streamed.cut, result.streamed.wrong) == ("chars", ("content", "finish_reason"))


def test_tools_that_cannot_be_used_are_an_error_of_the_case() -> None:
    (result,) = ours.parser([msgspec.convert(CASE | {"tools": [{}]}, Case)], 3).results

    assert result.agree
    assert result.whole.error is not None
    assert result.whole.error.startswith("SchemaError: tools[0]")
