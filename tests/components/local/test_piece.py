import numpy as np
import pytest

from components.local.piece import Factors, Piece, growth
from components.local.vocabulary import Part


def steer(*tokens: tuple[Part, str]) -> Factors:
    piece = Piece()
    for part, text in tokens:
        piece.observe(part, text)
    factors = np.ones(len(Part))
    piece.steer(factors)
    return factors


WORD = (Part.WORD, " word")
OPEN_STRING = (Part.OPEN, '{"')


def test_growth_is_free_at_first_and_bounded_at_last() -> None:
    assert growth(3, 3, 1.0) == 1.0
    assert growth(5, 3, 1.0) == pytest.approx(np.exp(2))
    assert np.isfinite(growth(10**6, 3, 1.0))


def test_text_is_closed_ever_more_urgently() -> None:
    closing = [steer(*[WORD] * length)[Part.END_ARG_VALUE] for length in (3, 6, 12, 24)]
    assert closing == sorted(closing)
    assert closing[-1] > 1e6 * closing[0]


def test_an_open_string_is_closed_by_a_quote_and_not_by_a_brace() -> None:
    factors = steer(OPEN_STRING, *[WORD] * 20)
    assert factors[Part.QUOTE] > 1e4
    assert factors[Part.CLOSE] < 1


def test_a_closed_string_leaves_the_brace_to_close() -> None:
    factors = steer(OPEN_STRING, *[WORD] * 20, (Part.QUOTE, '"'))
    assert factors[Part.CLOSE] > 100 > factors[Part.COMMA]


def test_a_quote_in_plain_text_opens_no_string() -> None:
    factors = steer(WORD, (Part.QUOTE, '"'), *[WORD] * 10)
    assert factors[Part.END_ARG_VALUE] > factors[Part.QUOTE]


def test_a_late_array_takes_no_more_items() -> None:
    factors = steer((Part.OPEN, "["), *[(Part.DIGIT, "1"), (Part.COMMA, ",")] * 20, (Part.DIGIT, "1"))
    assert factors[Part.CLOSE] > 1e3 * factors[Part.COMMA]


def test_a_number_ends_before_its_second_token_and_a_needed_comma_is_worth_more_than_a_digit() -> None:
    factors = steer((Part.OPEN, "["), *[WORD] * 40, (Part.DIGIT, "100"), (Part.SIGN, "."), (Part.DIGIT, "5"))
    assert factors[Part.COMMA] > factors[Part.DIGIT]


def test_a_thousand_digits_leave_every_factor_positive() -> None:
    assert (steer(*[(Part.DIGIT, "123")] * 1000) > 0).all()


def test_text_that_cannot_close_is_given_a_sign_but_never_two_in_a_row() -> None:
    assert steer(*[WORD] * 12)[Part.SIGN] > 1e3
    assert steer(*[WORD] * 12, (Part.SIGN, "@"))[Part.SIGN] < 1
