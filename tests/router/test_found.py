"""Where the index says that a session lives."""

import pytest

from router import Overlap, Rank, RouteRequest
from router.found import found_home

A, B, C = Rank(1, 0), Rank(1, 1), Rank(1, 2)


def request(tokens: int = 60_000, **found: int) -> RouteRequest:
    ranks = {"a": A, "b": B, "c": C}
    return RouteRequest(
        "1",
        session="s",
        prompt_tokens=tokens,
        overlaps={ranks[name]: Overlap(device) for name, device in found.items()},
    )


def test_a_session_that_another_frontend_moved_lives_where_its_last_prompt_is() -> None:
    assert found_home(request(a=13_000, b=58_000), A, 55_000) == B


@pytest.mark.parametrize(
    "found",
    [
        {},
        {"a": 54_976},
        {"a": 54_976, "b": 57_984},  # Most of it is at home still.
        {"a": 13_000, "b": 40_000},  # Less than its last prompt: left behind there, or another session's.
        {"b": 13_000},  # What all sessions share.
    ],
)
def test_else_its_home_stays_its_home(found: dict[str, int]) -> None:
    assert found_home(request(**found), A, 55_000) == A


def test_a_prompt_that_was_cut_short_is_whole_where_all_of_it_is() -> None:
    assert found_home(request(20_000, b=19_968), A, 55_000) == B


def test_a_session_that_is_new_here_lives_where_alone_most_of_its_prompt_is() -> None:
    assert found_home(request(a=13_000, b=55_000), None, 0) == B


@pytest.mark.parametrize("found", [{}, {"a": 13_000}, {"a": 40_000, "b": 40_000, "c": 40_000}, {"a": 25_000}])
def test_what_sessions_share_is_no_home(found: dict[str, int]) -> None:
    assert found_home(request(**found), None, 0) is None


def test_a_prompt_that_is_hardly_more_than_a_harness_has_no_home() -> None:
    assert found_home(request(18_000, a=15_000), None, 0) is None
