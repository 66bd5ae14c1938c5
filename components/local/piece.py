"""The piece of text that is being written, an argument's value or a JSON answer, and what would end it.

Under a grammar a piece ends when its closing parts are allowed and chosen. The longer it is, the more they are worth,
so that no string, number, array or recursive object goes on to the token limit.
"""

import math

import numpy as np
import numpy.typing as npt

from components.local.vocabulary import Part

Factors = npt.NDArray[np.float64]

NEVER = 1e-30
RARELY = 1e-6
_SELDOM = 0.1
_SURELY = 1e12
_MAX_EXPONENT = 60.0
# Commas that a schema asks for have to be worth more than digits without end.
_MOST_LATE = 1e3
# Prose leaves these to grammars that ask for them, and to code, where nothing else is likely.
JSON_PARTS = [Part.QUOTE, Part.QUOTE_COMMA, Part.OPEN, Part.NEST, Part.CLOSE]
_STARTS_JSON = frozenset({Part.OPEN, Part.NEST, Part.QUOTE, Part.CLOSE})
_IN_NUMBER = frozenset({Part.TEXT, Part.SIGN})


class Piece:
    """Lexical state since the last marker."""

    def __init__(self) -> None:
        self.length = 0
        """In tokens."""
        self.is_json = False
        """Whether it starts as a string, an array or an object of JSON does."""
        self._in_string = False
        self._since_quote = 0
        self._number = 0
        self._after_sign = False

    def observe(self, part: Part, text: str) -> None:
        """Move on by one token."""
        if self.length == 0:
            self.is_json = part in _STARTS_JSON
        self.length += 1
        quotes = text.count('"')
        self._in_string ^= quotes % 2 == 1
        self._since_quote = 0 if quotes else self._since_quote + 1
        # A number goes on over its signs and its exponent.
        self._number = self._number + 1 if part is Part.DIGIT or (self._number and part in _IN_NUMBER) else 0
        self._after_sign = part is Part.SIGN

    def after_number(self) -> float:
        """Return what an end is worth here: more after digits, which could go on for ever."""
        return 1e4 if self._number else 1.0

    def digits_go_on(self) -> float:
        """Return what one more digit is worth in prose."""
        return max(NEVER, 0.1 ** max(0, self._number - 1))

    def steer(self, factors: Factors) -> None:
        """Multiply what ends the piece by more and what prolongs it by less, in `factors` of shape (parts,)."""
        factors[Part.AWKWARD] = NEVER
        if not self.is_json:
            self._steer_text(factors)
        elif self._in_string:
            self._steer_string(factors)
        else:
            self._steer_json(factors)
        if self._number and not self._in_string:
            factors[Part.DIGIT] = max(NEVER, 1e-4**self._number)
            factors[[Part.TEXT, Part.SIGN]] = RARELY

    def _steer_text(self, factors: Factors) -> None:
        factors[JSON_PARTS] = RARELY
        factors[Part.SPACE] = NEVER
        factors[Part.END_ARG_VALUE] = growth(self.length, 3, 0.8) * self.after_number()
        self._steer_signs(factors, self.length)
        if self.length == 0:
            factors[Part.WORD] = RARELY
            factors[Part.DIGIT] = _SELDOM

    def _steer_string(self, factors: Factors) -> None:
        factors[[Part.COMMA, Part.OPEN, Part.NEST, Part.CLOSE]] = RARELY
        factors[Part.QUOTE] = growth(self._since_quote, 2, 0.7)
        factors[Part.QUOTE_COMMA] = factors[Part.QUOTE] / self._late()
        self._steer_signs(factors, self._since_quote)

    def _steer_json(self, factors: Factors) -> None:
        factors[Part.SPACE] = NEVER
        factors[Part.CLOSE] = self._late() * self.after_number()
        factors[[Part.COMMA, Part.OPEN]] = self.after_number() / min(self._late(), _MOST_LATE)
        factors[Part.NEST] = 1.0 / self._late()
        factors[Part.END_ARG_VALUE] = _SURELY

    def _late(self) -> float:
        return growth(self.length, 10, 0.4)

    def _steer_signs(self, factors: Factors, length: int) -> None:
        # What is still open when it should have ended lacks a sign: the @ of an address, the colon of a URL.
        factors[Part.SIGN] = RARELY if self._after_sign else growth(length, 4, 1.0)


def growth(length: int, free: int, slope: float) -> float:
    """Return 1 for the first `free` tokens of a piece and exp(slope) times more for each one after them."""
    return math.exp(min(_MAX_EXPONENT, max(0, length - free) * slope))
