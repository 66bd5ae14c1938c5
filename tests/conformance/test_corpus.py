from typing import Any

import pytest

from tests.conformance.cases import cut, differences, load, read, seeded

CHUNKINGS = 100

each_case = pytest.mark.parametrize("case", load("dev.jsonl"), ids=lambda case: str(case["id"]))


@each_case
def test_an_output_has_its_one_right_reading(case: dict[str, Any]) -> None:
    message = read(case, [case["output"]])
    assert not differences(case, message), (case["why"], message)


@each_case
def test_character_by_character_gives_the_same_message(case: dict[str, Any]) -> None:
    assert read(case, case["output"]) == read(case, [case["output"]])


@each_case
def test_any_chunking_gives_the_same_message(case: dict[str, Any]) -> None:
    rng = seeded(case["id"])
    whole = read(case, [case["output"]])
    for _ in range(CHUNKINGS if len(case["output"]) < 2000 else CHUNKINGS // 10):
        assert read(case, cut(case["output"], rng)) == whole


def test_the_corpus_is_complete() -> None:
    assert len(load("dev.jsonl")) == 171
    assert len(load("schemas.jsonl")) == 63
