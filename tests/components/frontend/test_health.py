"""Who is out, and for how long."""

import socket

from components.frontend.health import FIRST_BREAK_MS, LONGEST_BREAK_MS, STRIKES, Health, probe


def test_a_worker_is_put_out_once_and_changes_the_version() -> None:
    health = Health()

    assert health.exclude(1, "named", 0.0)
    assert not health.exclude(1, "named", 1.0)
    assert (list(health.excluded), health.version) == ([1], 1)


def test_a_worker_that_answers_again_is_back_on_probation() -> None:
    health = Health()
    health.exclude(1, "unreachable", 0.0)

    assert health.due(FIRST_BREAK_MS - 1) == []
    assert health.due(FIRST_BREAK_MS) == [1]
    assert health.due(FIRST_BREAK_MS) == [], "it is asked once"
    health.tried(1, FIRST_BREAK_MS, answers=True)

    assert not health.excluded
    assert health.version == 2
    assert health.strike(1), "one more failure puts it out"


def test_a_worker_that_stays_silent_is_asked_again() -> None:
    health = Health()
    health.exclude(1, "unreachable", 0.0)
    health.due(FIRST_BREAK_MS)
    health.tried(1, FIRST_BREAK_MS, answers=False)

    assert health.due(2 * FIRST_BREAK_MS - 1) == []
    assert health.due(2 * FIRST_BREAK_MS) == [1]


def test_the_break_doubles_until_the_worker_serves() -> None:
    health, now, breaks = Health(), 0.0, []
    for _ in range(7):
        health.exclude(1, "failing", now)
        breaks.append(health.excluded[1].until_ms - now)
        now = health.excluded[1].until_ms
        health.tried(1, now, answers=True)
    health.served(1)
    health.exclude(1, "failing", now)

    assert breaks == [1_000.0, 2_000.0, 4_000.0, 8_000.0, 16_000.0, LONGEST_BREAK_MS, LONGEST_BREAK_MS]
    assert health.excluded[1].until_ms == now + FIRST_BREAK_MS


def test_only_failures_in_a_row_are_too_many() -> None:
    health = Health()

    assert not any(health.strike(1) for _ in range(STRIKES - 1))
    health.served(1)
    assert [health.strike(1) for _ in range(STRIKES)] == [False] * (STRIKES - 1) + [True]


def test_a_worker_that_left_discovery_is_forgotten() -> None:
    health = Health()
    health.exclude(1, "named", 0.0)
    health.exclude(2, "named", 0.0)

    health.keep([2])

    assert list(health.excluded) == [2]


async def test_a_worker_answers_as_long_as_it_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        assert await probe(address) == "answer"
    assert await probe(address) == "refusal"


async def test_a_worker_that_takes_no_connections_is_silent() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        # The kernel takes one connection more than the backlog, and then lets others wait.
        with socket.create_connection(server.getsockname()):
            assert await probe(f"127.0.0.1:{server.getsockname()[1]}") == "silence"
