"""What one prefill rank has computed."""

from benchmarks.router.live.reading import Reading, after, between


def test_what_was_computed_between_two_readings_is_the_sum_of_the_steps_between() -> None:
    begin = after(after(Reading(), 7, 100), 8, 0)
    end = after(after(begin, 9, 2048), 10, 12)

    assert between(begin, end) == (2060, 0)


def test_messages_that_are_lost_are_counted() -> None:
    begin = after(Reading(), 7, 100)
    end = after(begin, 11, 5)

    assert between(begin, end) == (5, 3)
