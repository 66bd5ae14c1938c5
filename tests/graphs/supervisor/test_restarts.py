from graphs.supervisor.restarts import RestartPolicy, Restarts

POLICY = RestartPolicy(first_wait_s=1, longest_wait_s=5, stable_s=60, limit=4, window_s=100)


def test_waits_double_up_to_the_longest() -> None:
    restarts = Restarts(POLICY)
    assert [restarts.next_wait(0, now) for now in range(4)] == [1, 2, 4, 5]


def test_the_first_wait_returns_after_a_stable_life() -> None:
    restarts = Restarts(POLICY)
    assert [restarts.next_wait(lived_s, 0) for lived_s in (1, 59.9, 60, 1)] == [1, 2, 1, 2]


def test_one_death_more_than_the_limit_within_the_window_is_too_many() -> None:
    restarts = Restarts(POLICY)
    assert [restarts.next_wait(0, now) for now in (0, 1, 2, 3)] == [1, 2, 4, 5]
    assert restarts.next_wait(0, 100) is None


def test_restarts_older_than_the_window_do_not_count() -> None:
    restarts = Restarts(POLICY)
    for now in (0, 1, 2, 3):
        restarts.next_wait(0, now)
    assert restarts.next_wait(97, 100.5) == 1
    assert restarts.next_wait(0, 100.6) is None


def test_a_stable_life_alone_does_not_make_too_many_deaths_few() -> None:
    restarts = Restarts(RestartPolicy(stable_s=1, limit=2, window_s=100))
    assert restarts.next_wait(2, 2) == restarts.next_wait(2, 4)
    assert restarts.next_wait(2, 6) is None
