import math

from hypothesis import given
from hypothesis import strategies as st

from router.residents import Reach, Residents


def held(*sessions: tuple[str, int]) -> Residents:
    residents = Residents(100)
    for second, (session, tokens) in enumerate(sessions):
        residents.use(session, tokens, second * 1e3)
    return residents


def test_a_memory_in_which_all_fit_reaches_back_for_ever() -> None:
    before, after = held(("a", 40), ("b", 40)).reach(5e3, 0, "x")

    assert before == after == Reach(math.inf, 80)


def test_a_memory_reaches_back_to_the_session_that_does_not_fit() -> None:
    residents = held(("a", 40), ("b", 40), ("c", 40))

    assert residents.reach(10e3, 0, "x")[0] == Reach(10e3, 80)


def test_more_in_it_makes_it_reach_less_far() -> None:
    before, after = held(("a", 40), ("b", 40)).reach(10e3, 30, "x")

    assert before.age_ms == math.inf
    assert after == Reach(10e3, 70)


def test_a_session_does_not_crowd_itself() -> None:
    before, after = held(("a", 40), ("b", 60)).reach(10e3, 60, "b")

    assert before == Reach(math.inf, 40)
    assert after == Reach(math.inf, 100)


def test_what_was_used_least_recently_is_kept_least() -> None:
    residents = held(("a", 60), ("b", 30), ("c", 30))

    assert [residents.kept(session) for session in "abcd"] == [40, 30, 30, 0]


def test_used_again_a_session_is_the_newest_with_its_new_length() -> None:
    residents = held(("a", 60), ("b", 30), ("a", 80))

    assert (residents.kept("a"), residents.kept("b"), residents.tokens) == (80, 20, 110)


def test_a_forgotten_session_takes_no_room() -> None:
    residents = held(("a", 60), ("b", 60))
    residents.forget("b")
    residents.forget("never known")

    assert (residents.kept("a"), residents.tokens, len(residents)) == (60, 60, 1)


USES = st.lists(st.tuples(st.sampled_from("abcdefghij"), st.integers(0, 150)), max_size=60)


def counted(newest_first: list[tuple[float, int]], extra: int) -> Reach:
    """How far back a memory of 100 tokens reaches with so many more in it, counted session by session."""
    taken = extra
    for age_ms, tokens in newest_first:
        if taken + tokens > 100:
            return Reach(age_ms, taken)
        taken += tokens
    return Reach(math.inf, taken)


@given(USES, st.sampled_from("abcdefghijk"), st.integers(0, 150))
def test_what_fits_is_what_counting_says(uses: list[tuple[str, int]], without: str, extra: int) -> None:
    residents, last = held(*uses), {session: (second, tokens) for second, (session, tokens) in enumerate(uses)}
    newest = sorted((second, tokens, session) for session, (second, tokens) in last.items() if session in residents)[
        ::-1
    ]
    others = [((100 - second) * 1e3, tokens) for second, tokens, session in newest if session != without]

    assert residents.reach(100e3, extra, without) == (counted(others, 0), counted(others, extra))
    newer = 0
    for _, tokens, session in newest:
        assert residents.kept(session) == max(0, min(tokens, 100 - newer))
        newer += tokens


@given(USES)
def test_the_book_is_bounded_and_adds_up(uses: list[tuple[str, int]]) -> None:
    residents = held(*uses)

    assert sum(residents.kept(session) for session in "abcdefghij") <= 100
    assert residents.tokens <= 400 or len(residents) == 1
