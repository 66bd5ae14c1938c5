"""xgrammar over single bytes and GLM's markers: what an engine would let a model write, whatever its vocabulary."""

import functools
import json
import re
from typing import Any

from components.local.lean_xgrammar import xgrammar
from toolcall import markers

ENDS = ("<|endoftext|>", "<|user|>", "<|observation|>")
SPECIAL = (*markers.ALL, *ENDS)
"""The tokens behind those of single bytes, in the order of their ids."""

BYTES = 256
_SPLIT = re.compile("(" + "|".join(map(re.escape, markers.ALL)) + ")")


@functools.cache
def compiler() -> Any:
    """Return xgrammar's compiler over this vocabulary; it keeps what it compiled, so a tag is compiled once."""
    vocabulary = [bytes([byte]) for byte in range(BYTES)] + [token.encode() for token in SPECIAL]
    ends = [BYTES + SPECIAL.index(end) for end in ENDS]
    info = xgrammar.TokenizerInfo(vocabulary, vocab_type=xgrammar.VocabType.RAW, stop_token_ids=ends)
    return xgrammar.GrammarCompiler(info)


def compile_tag(tag: dict[str, Any]) -> Any:
    """Return a structural tag compiled."""
    return compiler().compile_structural_tag(json.dumps(tag))


def token_ids(text: str) -> list[int]:
    """Return a text as tokens: a marker is one, all else is bytes."""
    ids: list[int] = []
    for piece in _SPLIT.split(text):
        ids += [BYTES + SPECIAL.index(piece)] if piece in markers.ALL else piece.encode()
    return ids


def refused_at(grammar: Any, text: str) -> int | None:
    """Return the byte at which a text is refused, its length when it ends too soon, None when it is accepted."""
    matcher = xgrammar.GrammarMatcher(grammar)
    at = 0
    for token in token_ids(text):
        if not matcher.accept_token(token):
            return at
        at += 1 if token < BYTES else len(SPECIAL[token - BYTES])
    return None if matcher.is_completed() else at
