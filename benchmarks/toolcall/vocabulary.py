"""A vocabulary as large as GLM's, made up: its masks cost what the real one's do.

150,000 entries: all bytes, GLM's markers, runs of spaces, numbers, signs of code that cross from one part of a call to
the next, the words of the project's own texts as BPE writes them, and syllables and Chinese characters for the rest.
"""

import random
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain, product
from typing import Final

import xgrammar

from components.local import markers

_SIZE: Final = 150_000
_LONGEST: Final = 24
_SIGNS: Final = "\"'{}[]():;,.<>/=_-+*&|!?#@$%^\\`~ \n"
_LETTERS: Final = "etaoinshrdlucmfwypvbgkqjxz"
_HAN: Final = (0x4E00, 0x9FFF)


def _words(texts: Sequence[str]) -> Iterator[str]:
    for word in dict.fromkeys(re.findall(r"[^\W\d_]{2,}", " ".join(texts))):
        for form in (word, word.lower(), word.capitalize()):
            yield from (form, f" {form}", f"_{form}", f".{form}", f'"{form}')


def _signs() -> Iterator[str]:
    yield from map("".join, product(_SIGNS, repeat=2))
    yield from ("():", '":"', '","', '": "', '", "', '"},', '"}]', '[{"', "}]}", '"/>')
    yield from (" " * count for count in range(2, 33))
    yield from ("\n" + " " * count for count in range(1, 25))
    yield from map(str, range(1000))


def _rest(rng: random.Random) -> Iterator[str]:
    """Yield pieces without end: mostly parts of words, some Chinese."""
    kinds = ("word", "part", "name", "sign", "han")
    while True:
        letters = _LETTERS[: rng.choice((6, 12, 26))]
        piece = "".join(rng.choice(letters) for _ in range(rng.randrange(2, 10)))
        match rng.choices(kinds, weights=(40, 35, 10, 5, 10))[0]:
            case "word":
                piece = f" {piece}"
            case "name":
                piece = piece.capitalize()
            case "sign":
                piece += rng.choice(_SIGNS)
            case "han":
                piece = "".join(chr(rng.randrange(*_HAN)) for _ in range(rng.randrange(1, 4)))
        yield piece


class Vocabulary:
    """The entries, and texts cut into them.

    Args:
        texts: Texts whose words have entries of their own.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        added = (*markers.SPECIAL, *markers.STRUCTURE)
        pieces = chain(added, _signs(), _words(texts), _rest(random.Random(1)))
        ids = {bytes([byte]): byte for byte in range(256)}
        for piece in pieces:
            ids.setdefault(piece.encode(), len(ids))
            if len(ids) == _SIZE:
                break
        self._ids = ids
        self._added = re.compile("(" + "|".join(map(re.escape, added)) + ")")

    @cached_property
    def info(self) -> xgrammar.TokenizerInfo:
        """The entries as xgrammar takes them."""
        ends = [self._ids[end.encode()] for end in markers.END_TOKENS]
        return xgrammar.TokenizerInfo(list(self._ids), vocab_type=xgrammar.VocabType.RAW, stop_token_ids=ends)

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text: markers whole, everything between them by the longest entries."""
        return [token for part in self._added.split(text) if part for token in self._part(part.encode())]

    def _part(self, text: bytes) -> Iterator[int]:
        at = 0
        while at < len(text):
            stop = next(stop for stop in range(min(len(text), at + _LONGEST), at, -1) if text[at:stop] in self._ids)
            yield self._ids[text[at:stop]]
            at = stop
