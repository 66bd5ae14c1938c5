from toolcall.automaton import lengths
from toolcall.patterns import automaton, matches


def test_a_pattern_matches_anywhere() -> None:
    assert matches("a", "cat")
    assert not matches("^a", "cat")


def test_a_pattern_is_that_of_ecma_262() -> None:
    assert not matches(r"^\d$", "٣")
    assert not matches("^a$", "a\n")


def test_a_pattern_beyond_what_is_read_is_matched_all_the_same() -> None:
    assert matches("^(?!x)", "a")
    assert not matches("^(?!x)", "x")


def test_a_pattern_that_nobody_can_read_matches_nothing() -> None:
    assert not matches("(", "(")


def test_the_automaton_of_a_pattern_is_the_smallest() -> None:
    assert automaton("^[^]{2,3}$") == lengths(2, 3)
