from toolcall.patterns import matches


def test_a_pattern_matches_anywhere() -> None:
    assert matches("a", "cat")
    assert not matches("^a", "cat")


def test_a_pattern_that_cannot_be_read_matches_nothing() -> None:
    assert not matches("(", "(")
