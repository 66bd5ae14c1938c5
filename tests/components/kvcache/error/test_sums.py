import pytest
import torch

from components.kvcache.error.sums import Sums, compare


def test_the_error_is_relative_to_what_was_wanted() -> None:
    error = compare(torch.tensor([3.0, 4.0, 1.0]), torch.tensor([3.0, 4.0, 0.0])).error
    assert error.relative == pytest.approx(1 / 5)
    assert error.largest == pytest.approx(1 / (25 / 3) ** 0.5)


def test_sums_of_parts_are_those_of_the_whole() -> None:
    found, wanted = torch.arange(6.0), torch.tensor([1.0, 1.0, 2.0, 5.0, 4.0, 4.0])
    assert compare(found[:2], wanted[:2]) + compare(found[2:], wanted[2:]) == compare(found, wanted)
    assert Sums() + compare(found, wanted) == compare(found, wanted)


def test_nothing_missed_of_nothing_wanted_is_no_error() -> None:
    assert compare(torch.zeros(3), torch.zeros(3)).error.relative == 0.0
    assert Sums().error.relative == 0.0
