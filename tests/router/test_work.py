import pytest

from router.work import Work


def test_half_of_the_work_is_forgotten_in_a_half_life() -> None:
    work = Work(1000.0)
    work.add(80.0, 0.0)

    assert work.at(0.0) == 80.0
    assert work.at(2000.0) == pytest.approx(20.0)


def test_work_adds_up_and_is_corrected_downwards() -> None:
    work = Work(1000.0)
    work.add(80.0, 0.0)
    work.add(10.0, 1000.0)
    work.add(-20.0, 1000.0)

    assert work.at(1000.0) == pytest.approx(30.0)
