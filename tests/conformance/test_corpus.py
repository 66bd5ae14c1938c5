from collections.abc import Iterator

import pytest

from tests.conformance.cases import outputs, seeded
from toolcall.conformance import Case, differences, pieces, read, reading

SMALL_PIECES, FEW_CUTS = 60, 140

each_case = pytest.mark.parametrize("case", outputs(), ids=lambda case: str(case.id))


def cut_few_times(text: str, seed: int) -> Iterator[str]:
    """Pieces of any length, as steps of many tokens bring them."""
    rng = seeded(seed)
    cuts = sorted(rng.randrange(len(text) + 1) for _ in range(rng.randrange(1, 5)))
    yield from (text[start:stop] for start, stop in zip([0, *cuts], [*cuts, len(text)], strict=True))


@each_case
def test_an_output_has_its_one_right_reading(case: Case) -> None:
    message = read(case, [case.output])
    assert not differences(case, reading(message)), (case.why, message)


@each_case
def test_character_by_character_gives_the_same_message(case: Case) -> None:
    assert read(case, case.output) == read(case, [case.output])


@each_case
def test_200_random_chunkings_give_the_same_message(case: Case) -> None:
    whole = read(case, [case.output])
    for seed in range(SMALL_PIECES):
        assert read(case, pieces(case.output, str(seed))) == whole, seed
    for seed in range(FEW_CUTS):
        assert read(case, cut_few_times(case.output, seed)) == whole, seed
