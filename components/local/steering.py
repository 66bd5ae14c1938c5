"""How an answer is led through GLM's format to its end.

The trigram model knows two tokens back and would write for ever. This is what it lacks: where in the format the answer
stands, how long the piece it is writing already is, and whether the turn should call a tool.
"""

import enum
import random
from collections.abc import Sequence

import numpy as np

from components.local import markers
from components.local.piece import JSON_PARTS, NEVER, RARELY, Factors, Piece, growth
from components.local.vocabulary import Part, Vocabulary

_ALWAYS = 1e12
_TWO_CALLS = 0.25
_TEXT_BEFORE_CALLS = 0.3
_SENTENCE_ENDS = (".", "?", "!", ":")


class Mode(enum.Enum):
    """Where in GLM's format the next token stands."""

    REASONING = enum.auto()
    CONTENT = enum.auto()
    CALL = enum.auto()
    KEY = enum.auto()
    VALUE = enum.auto()
    AFTER_CALL = enum.auto()


_MODE_AFTER = {
    Part.END_THINK: Mode.CONTENT,
    Part.TOOL_CALL: Mode.CALL,
    Part.END_TOOL_CALL: Mode.AFTER_CALL,
    Part.ARG_KEY: Mode.KEY,
    Part.ARG_VALUE: Mode.VALUE,
    Part.END_ARG_KEY: Mode.CALL,
    Part.END_ARG_VALUE: Mode.CALL,
}


class Steering:
    """The state of one answer, moved on token by token."""

    def __init__(
        self, vocabulary: Vocabulary, prompt: Sequence[int], *, reasoning: bool, tools: bool, rng: random.Random
    ) -> None:
        """Start an answer.

        Args:
            vocabulary: The model's.
            prompt: Token ids.
            reasoning: Whether the answer starts inside the reasoning.
            tools: Whether the request constrains tool calls.
            rng: Decides what the turn looks like: how many calls, and whether text comes before them.
        """
        self._vocabulary = vocabulary
        self._mode = Mode.REASONING if reasoning else Mode.CONTENT
        # A turn that answers tool results is text, so that an agent's loop ends.
        calls = 1 + (rng.random() < _TWO_CALLS)
        self._calls_left = calls if tools and _last_role_is_user(vocabulary, prompt) else 0
        self._text_before_calls = rng.random() < _TEXT_BEFORE_CALLS
        self._piece = Piece()
        self._call_length = 0
        self._sentence_ended = False

    def observe(self, token: int) -> None:
        """Move on by the token that was chosen."""
        part = Part(self._vocabulary.parts[token])
        text = self._vocabulary.texts[token]
        if part in _MODE_AFTER:
            self._mode = _MODE_AFTER[part]
            self._piece = Piece()
        else:
            self._piece.observe(part, text)
        self._call_length += 1
        if part is Part.TOOL_CALL:
            self._call_length = 0
            self._calls_left -= 1
        self._sentence_ended = text.rstrip().endswith(_SENTENCE_ENDS)

    def factors(self) -> Factors:
        """Return what the weight of each `Part` is multiplied by here, shape (parts,)."""
        factors = _FREE_TEXT.copy()
        match self._mode:
            case Mode.REASONING:
                factors[JSON_PARTS] = RARELY
                factors[Part.END_THINK] = growth(self._piece.length, 24, 0.4)
            case Mode.CONTENT if self._piece.is_json:
                self._piece.steer(factors)
                factors[Part.END] = _ALWAYS
            case Mode.CONTENT:
                self._steer_content(factors)
            case Mode.CALL:
                factors[[Part.SPACE, Part.AWKWARD]] = NEVER
                factors[[Part.ARG_KEY, Part.ARG_VALUE]] = 1.0
                factors[Part.END_TOOL_CALL] = growth(self._call_length, 24, 0.3)
            case Mode.KEY:
                factors[[Part.SPACE, Part.AWKWARD]] = NEVER
                factors[Part.END_ARG_KEY] = growth(self._piece.length, 2, 1.0)
            case Mode.VALUE:
                self._piece.steer(factors)
            case Mode.AFTER_CALL:
                factors[Part.END] = _ALWAYS
                factors[Part.TOOL_CALL] = _ALWAYS**2 if self._calls_left > 0 else NEVER
        return factors

    def _steer_content(self, factors: Factors) -> None:
        factors[JSON_PARTS] = RARELY
        factors[Part.DIGIT] = self._piece.digits_go_on()
        length = self._piece.length
        if self._calls_left > 0:
            start = self._sentence_ended if length else not self._text_before_calls
            factors[Part.TOOL_CALL] = _ALWAYS if start else growth(length, 16, 0.6)
        else:
            factors[Part.END] = growth(length, 30, 0.4) * self._piece.after_number()


def _free_text() -> Factors:
    factors = np.full(len(Part), NEVER)
    factors[: Part.AWKWARD + 1] = 1.0
    return factors


_FREE_TEXT = _free_text()


def _last_role_is_user(vocabulary: Vocabulary, prompt: Sequence[int]) -> bool:
    """Whether the last turn before the one that the prompt opens for the assistant is the user's."""
    user = vocabulary.id(markers.USER)
    roles = {user, vocabulary.id(markers.OBSERVATION), vocabulary.id(markers.SYSTEM)}
    return next((token for token in reversed(prompt) if token in roles), None) == user
