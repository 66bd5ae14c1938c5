from pathlib import Path

import pytest

from graphs.commands.toolcalls.conformance.suite import load, published
from graphs.errors import Refusal
from tests.conformance.cases import DATA, outputs
from tests.graphs.commands.toolcalls.conformance.conftest import CASE, CUT, SCHEMA, TAG, Write


def test_the_published_suite_is_that_of_the_checkout() -> None:
    assert published() == DATA
    suite = load(published())
    assert {case.id for case in outputs()} <= {case.id for case in suite.cases}
    assert len(suite.schemas) == 63


def test_every_file_of_outputs_counts(write: Write) -> None:
    suite = load(write(dev=[CASE], reports=[CUT], tags=[TAG], schemas=[SCHEMA]))

    assert [case.id for case in suite.cases] == ["call-1", "cut-1"]
    # A line separator inside a value ends no line.
    assert suite.cases[0].output.startswith("Let me\u2028see.")
    assert [(case.id, case.accepted, case.reasoning) for case in suite.tags] == [("tag-1", True, "none")]
    assert [(case.id, case.wire_ambiguous) for case in suite.schemas] == [("s-1", (2,))]


def test_tags_and_schemas_may_be_absent(write: Write) -> None:
    suite = load(write(dev=[CASE]))
    assert (suite.tags, suite.schemas) == ((), ())


def test_a_folder_without_cases_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match=r"no \.jsonl file of cases"):
        load(tmp_path / "nowhere")


def test_a_bad_line_is_named(write: Write) -> None:
    folder = write(dev=[CASE, CUT | {"output": 3}])
    with pytest.raises(Refusal, match=r"dev\.jsonl, line 2: Expected `str`, got `int` - at `\$\.output`"):
        load(folder)


@pytest.mark.parametrize("name", ["call-1", ""])
def test_cases_need_ids_of_their_own(write: Write, name: str) -> None:
    folder = write(dev=[CASE], reports=[CUT | {"id": name}])
    with pytest.raises(Refusal, match=f"the id '{name}'"):
        load(folder)
