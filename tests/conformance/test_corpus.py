import pytest

from tests.conformance.cases import load, outputs
from toolcall.conformance import Case, differences, pieces, read, reading

CHUNKINGS = 200

each_case = pytest.mark.parametrize("case", outputs(), ids=lambda case: str(case.id))


@each_case
def test_an_output_has_its_one_right_reading(case: Case) -> None:
    message = read(case, [case.output])
    assert not differences(case, reading(message)), (case.why, message)


@each_case
def test_character_by_character_gives_the_same_message(case: Case) -> None:
    assert read(case, case.output) == read(case, [case.output])


@each_case
def test_any_chunking_gives_the_same_message(case: Case) -> None:
    whole = read(case, [case.output])
    for seed in range(CHUNKINGS):
        assert read(case, pieces(case.output, str(seed))) == whole, seed


def test_the_corpus_is_complete() -> None:
    assert len(load("dev.jsonl")) == 171
    assert len(load("schemas.jsonl")) == 63
