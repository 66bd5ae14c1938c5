"""The text the stand-in model is made from: turns in GLM's wire format, written for this project."""

import functools
import re
from pathlib import Path

_CORPUS = Path(__file__).with_name("corpus.txt")
_WORDS = Path(__file__).with_name("words.txt")
_NEXT_TURN = re.compile(r"\n+(?=<think>|\Z)")


@functools.cache
def turns() -> tuple[str, ...]:
    """Return the turns, each from the `<think>` that opens it to the token that ends it."""
    return tuple(turn for turn in _NEXT_TURN.split(_CORPUS.read_text(encoding="utf-8")) if turn)


@functools.cache
def words() -> str:
    """Return common words of prose and code, for a tokenizer that knows more words than the turns use."""
    return _WORDS.read_text(encoding="utf-8")
