import pytest

from components.local.pacing import Pace


def test_tokens_are_due_one_by_one_on_an_absolute_schedule() -> None:
    pace = Pace(0.005, start=10.0)
    assert pace.delay(0, 10.0) == 0
    assert pace.due(0, 10.0) == 1
    assert pace.delay(1, 10.001) == pytest.approx(0.004)
    # A token that was late by 3 ms does not move the next one.
    assert pace.delay(2, 10.008) == pytest.approx(0.002)


def test_late_tokens_travel_together() -> None:
    pace = Pace(0.005, start=10.0)
    assert pace.due(1, 10.0201) == 4
    assert pace.delay(1, 10.0201) == 0
    assert pace.delay(5, 10.0201) == pytest.approx(0.0049)


def test_a_timer_that_fires_early_still_makes_progress() -> None:
    assert Pace(0.005, start=10.0).due(2, 10.0099) == 1


def test_without_an_interval_tokens_come_in_bursts_that_leave_room_for_others() -> None:
    pace = Pace(0.0, start=10.0)
    assert pace.delay(100, 10.0) == 0
    assert 1 < pace.due(0, 10.0) <= 32


def test_a_long_pause_is_not_made_up_for_at_once() -> None:
    assert Pace(0.005, start=0.0).due(0, 1000.0) <= 32
