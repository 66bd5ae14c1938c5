"""xgrammar over single bytes and GLM's markers: what an engine would let a model write, whatever its vocabulary."""

import functools
import json
import re
from typing import Any

from components.local.lean_xgrammar import xgrammar
from toolcall import markers

_ENDS = ("<|endoftext|>", "<|user|>", "<|observation|>")
_SPECIAL = (*markers.ALL, *_ENDS)
_BYTES = 256
_SPLIT = re.compile("(" + "|".join(map(re.escape, markers.ALL)) + ")")


@functools.cache
def _compiler() -> Any:
    vocabulary = [bytes([byte]) for byte in range(_BYTES)] + [token.encode() for token in _SPECIAL]
    ends = [_BYTES + _SPECIAL.index(end) for end in _ENDS]
    info = xgrammar.TokenizerInfo(vocabulary, vocab_type=xgrammar.VocabType.RAW, stop_token_ids=ends)
    return xgrammar.GrammarCompiler(info)


def refused_at(tag: dict[str, Any], text: str) -> int | None:
    """Return the byte of the text at which it is refused, its length when it ends too soon, None when it is accepted.

    The compiler keeps what it compiled, so a tag is compiled once.
    """
    matcher = xgrammar.GrammarMatcher(_compiler().compile_structural_tag(json.dumps(tag)))
    at = 0
    for piece in _SPLIT.split(text):
        tokens = (
            [(_BYTES + _SPECIAL.index(piece), len(piece))] if piece in _SPECIAL else [(b, 1) for b in piece.encode()]
        )
        for token, size in tokens:
            if not matcher.accept_token(token):
                return at
            at += size
    return None if matcher.is_completed() else at
