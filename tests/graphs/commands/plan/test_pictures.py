import pytest

from graphs.commands.plan.pictures import spread


@pytest.mark.parametrize(
    ("wanted", "heights"),
    [
        ([], []),
        ([9.0, 5.0], [9.0, 5.0]),
        ([9.0, 8.9, 8.8], [9.0, 8.0, 7.0]),
        ([1.0, 0.9, 0.8], [2.5, 1.5, 0.5]),
    ],
)
def test_names_are_a_line_apart_and_none_is_below_the_floor(wanted: list[float], heights: list[float]) -> None:
    assert spread(wanted, 1.0, 0.5) == pytest.approx(heights)
