import msgspec

from components.peers.protocol import Answer
from graphs.commands.toolcalls.conformance import ours
from graphs.commands.toolcalls.conformance.results import Parser, result
from graphs.commands.toolcalls.conformance.table import table
from tests.graphs.commands.toolcalls.conformance.conftest import CASE, CUT
from toolcall.conformance import Case


def test_a_row_is_a_fault_class_and_a_column_a_parser() -> None:
    cases = [msgspec.convert(case, Case) for case in (CUT, CASE)]
    refusing = tuple(
        result(case, Answer(case.id, "whole", error="no"), Answer(case.id, "streamed", error="no")) for case in cases
    )
    right = msgspec.structs.replace(ours.parser(cases, 0), version="1.0")

    assert table([right, Parser("p", "2.0", refusing)]) == (
        "| fault class               | cases | ours 1.0 | p 2.0 |\n"
        "| ------------------------- | ----: | -------: | ----: |\n"
        "| basic_call                |     1 |    1 / 1 | 0 / 0 |\n"
        "| truncation                |     1 |    1 / 1 | 0 / 0 |\n"
        "| **all**                   |     2 |    2 / 2 | 0 / 0 |\n"
        "| calls right               |       |    2 / 2 | 0 / 0 |\n"
        "| a call lost               |       |    0 / 0 | 0 / 0 |\n"
        "| a call made up            |       |    0 / 0 | 0 / 0 |\n"
        "| arguments lost, `{}`      |       |    0 / 0 | 0 / 0 |\n"
        "| arguments not JSON        |       |    0 / 0 | 0 / 0 |\n"
        "| markup in a name          |       |    0 / 0 | 0 / 0 |\n"
        "| nothing returned          |       |    0 / 0 | 0 / 0 |\n"
        "| refused, or failed        |       |    0 / 0 | 2 / 2 |\n"
        "| whole and streamed differ |       |        0 |     0 |\n"
    )
