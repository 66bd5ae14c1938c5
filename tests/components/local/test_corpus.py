from components.local import corpus, markers


def test_every_turn_reasons_first_and_ends() -> None:
    assert len(corpus.turns()) > 50
    for turn in corpus.turns():
        assert turn.startswith(markers.THINK)
        assert markers.END_THINK in turn
        assert turn.endswith((markers.USER, markers.OBSERVATION))


def test_a_turn_ends_with_observation_exactly_when_it_calls_a_tool() -> None:
    for turn in corpus.turns():
        assert turn.endswith(markers.OBSERVATION) == (markers.TOOL_CALL in turn)


def test_calls_are_well_formed() -> None:
    for turn in corpus.turns():
        for opening, closing in (
            (markers.TOOL_CALL, markers.END_TOOL_CALL),
            (markers.ARG_KEY, markers.END_ARG_KEY),
            (markers.ARG_VALUE, markers.END_ARG_VALUE),
        ):
            assert turn.count(opening) == turn.count(closing)


def test_the_words_are_plain_ascii() -> None:
    assert corpus.words().isascii()
    assert len(set(corpus.words().split())) > 1000
