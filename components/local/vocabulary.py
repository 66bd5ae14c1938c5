"""What the decoder knows of a model's tokens: their bytes, GLM's markers, and the part each plays in an answer."""

import enum
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from components.local import markers


class Part(enum.IntEnum):
    """The part a token plays, by its first character that is not a space."""

    TEXT = 0
    # Text after a space: a word of a sentence.
    WORD = 1
    # Neither letters nor digits.
    SIGN = 2
    SPACE = 3
    DIGIT = 4
    # Starts with a quote: of a string's start, or of its end and perhaps of what holds it.
    QUOTE = 5
    # A comma, or what ends one item and goes on to the next, as in `", "` and `}, {"`.
    COMMA = 6
    QUOTE_COMMA = 7
    # `{` or `[` and what follows.
    OPEN = 8
    # Two levels at once, as in `[{"`.
    NEST = 9
    # `}` or `]`, and what opens and closes at once.
    CLOSE = 10
    # Half a character, half an escape, half a marker or the end of a line: a value is better off without.
    AWKWARD = 11
    # From here on: added tokens.
    SPECIAL = 12
    END = 13
    END_THINK = 14
    TOOL_CALL = 15
    END_TOOL_CALL = 16
    ARG_KEY = 17
    ARG_VALUE = 18
    END_ARG_KEY = 19
    END_ARG_VALUE = 20


_BY_MARKER = {
    markers.END_THINK: Part.END_THINK,
    markers.TOOL_CALL: Part.TOOL_CALL,
    markers.END_TOOL_CALL: Part.END_TOOL_CALL,
    markers.ARG_KEY: Part.ARG_KEY,
    markers.ARG_VALUE: Part.ARG_VALUE,
    markers.END_ARG_KEY: Part.END_ARG_KEY,
    markers.END_ARG_VALUE: Part.END_ARG_VALUE,
    **dict.fromkeys(markers.END_TOKENS, Part.END),
}


@dataclass(frozen=True)
class Vocabulary:
    """A tokenizer's entries.

    Attributes:
        tokenizer: The folder's `tokenizer.json`.
        data: The bytes of each entry, by id.
        parts: The `Part` of each entry as uint8, shape (vocabulary,).
        ids: The ids of GLM's markers.
        end_ids: The ids that end a turn.
    """

    tokenizer: Tokenizer
    data: tuple[bytes, ...]
    parts: npt.NDArray[np.uint8]
    ids: dict[str, int]
    end_ids: frozenset[int]

    def id(self, marker: str) -> int:
        """Return the id of one of GLM's markers."""
        return self.ids[marker]

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """Each entry as text, with the replacement character for what is not whole UTF-8."""
        return tuple(data.decode(errors="replace") for data in self.data)


class ModelError(ValueError):
    """A model folder that the decoder cannot use; the message names the place and the mend."""


def load(model_path: Path) -> Vocabulary:
    """Read the vocabulary of a model folder.

    Raises:
        ModelError: There is no `tokenizer.json`, or it is not of GLM's format.
    """
    path = model_path / "tokenizer.json"
    if not path.is_file():
        raise ModelError(f"{path} does not exist; make it with: python -m components.local.model {model_path}")
    tokenizer = Tokenizer.from_file(str(path))
    added = {index: token.content for index, token in tokenizer.get_added_tokens_decoder().items()}
    ids = {text: index for index, text in added.items()}
    missing = [text for text in (*markers.SPECIAL, *markers.STRUCTURE) if text not in ids]
    if missing:
        raise ModelError(f"{path} lacks GLM's added tokens {', '.join(missing)}; the decoder needs GLM's format")
    to_byte = _byte_of_character()
    data = tuple(
        added[index].encode() if index in added else bytes(map(to_byte.__getitem__, tokenizer.id_to_token(index) or ""))
        for index in range(tokenizer.get_vocab_size())
    )
    parts = np.array([_part(entry, added.get(index)) for index, entry in enumerate(data)], dtype=np.uint8)
    return Vocabulary(tokenizer, data, parts, ids, frozenset(ids[text] for text in markers.END_TOKENS))


def _part(data: bytes, added: str | None) -> Part:
    if added is not None:
        return _BY_MARKER.get(added, Part.SPECIAL)
    text = data.decode(errors="replace")
    solid = text.strip()
    if not solid:
        return Part.SPACE
    if not text.isprintable() or any(character in "<>\\\N{REPLACEMENT CHARACTER}" for character in text):
        return Part.AWKWARD
    punctuation = _punctuation(solid)
    if punctuation is not None:
        return punctuation
    if not any(map(str.isalnum, solid)):
        return Part.SIGN
    return Part.DIGIT if solid[0].isdigit() else Part.WORD if text[0] == " " else Part.TEXT


def _punctuation(solid: str) -> Part | None:
    opened, closed = (sum(map(solid.count, pair)) for pair in ("{[", "}]"))
    match solid[0]:
        case '"':
            return Part.QUOTE_COMMA if "," in solid else Part.QUOTE
        case "{" | "[":
            return Part.CLOSE if closed >= opened else Part.OPEN if opened == 1 else Part.NEST
        case "}" | "]":
            return Part.COMMA if "," in solid else Part.CLOSE
        case ",":
            return Part.COMMA
    return None


def _byte_of_character() -> dict[str, int]:
    """Invert GPT-2's byte-to-character table, which byte-level BPE vocabularies are written in."""
    kept = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    moved = [byte for byte in range(256) if byte not in set(kept)]
    return {chr(byte): byte for byte in kept} | {chr(256 + index): byte for index, byte in enumerate(moved)}
