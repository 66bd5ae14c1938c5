import pytest

from graphs.errors import Refusal
from graphs.ratio.measured import Measured, as_given, measured


def test_what_is_given_replaces_what_was_published() -> None:
    found = measured(["itl-ms=8", "chunk-ms=408"])
    assert (found.itl_ms, found.chunk_ms, found.chunk_tokens) == (8, 408, 8192)
    assert measured([]) == Measured()
    assert as_given(Measured())["chunk-ms"] == 678


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("itl=8", "--measured itl=8: "),
        ("itl-ms", "--measured itl-ms: write NAME=NUMBER above 0"),
        ("itl-ms=-1", "--measured itl-ms=-1: write NAME=NUMBER above 0"),
        ("itl-ms=inf", "--measured itl-ms=inf: write NAME=NUMBER above 0"),
        ("step-ms=700", "--measured step-ms=700: a chunk takes 678 ms in all"),
        ("acceptance=2", "--measured acceptance=2: a chance is 1 at most"),
    ],
)
def test_what_is_no_measurement_is_one_line(given: str, says: str) -> None:
    with pytest.raises(Refusal) as caught:
        measured([given])
    (problem,) = caught.value.problems
    assert problem.startswith(says)
