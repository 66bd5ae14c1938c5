"""xgrammar over a byte vocabulary in which GLM's markers are single tokens: what an engine would let a model write."""

import functools
import json
import random
import re
from typing import Any

import torch
import xgrammar

from toolcall import markers

_ENDS = ("<|endoftext|>", "<|user|>", "<|observation|>")
_SPECIAL = (*markers.ALL, *_ENDS)
_SPLIT = re.compile("(" + "|".join(re.escape(token) for token in markers.ALL) + ")")


@functools.cache
def _compiler() -> xgrammar.GrammarCompiler:
    vocabulary = [bytes([byte]) for byte in range(256)] + [token.encode() for token in _SPECIAL]
    info = xgrammar.TokenizerInfo(
        vocabulary,
        vocab_type=xgrammar.VocabType.RAW,
        stop_token_ids=[256 + _SPECIAL.index(end) for end in _ENDS],
    )
    return xgrammar.GrammarCompiler(info, max_threads=1)


def compile_tag(tag: dict[str, Any]) -> xgrammar.CompiledGrammar:
    return _compiler().compile_structural_tag(json.dumps(tag))


def compile_grammar(ebnf: str) -> xgrammar.CompiledGrammar:
    return _compiler().compile_grammar(ebnf)


def token_ids(text: str) -> list[int]:
    ids: list[int] = []
    for piece in _SPLIT.split(text):
        if piece in markers.ALL:
            ids.append(256 + _SPECIAL.index(piece))
        else:
            ids.extend(piece.encode())
    return ids


def refused_at(grammar: xgrammar.CompiledGrammar, text: str) -> int | None:
    """The token at which the text is refused, -1 when it ends too early, None when it is admitted."""
    matcher = xgrammar.GrammarMatcher(grammar)
    for at, token in enumerate(token_ids(text)):
        if not matcher.accept_token(token):
            return at
    return None if matcher.is_completed() else -1


def admits(grammar: xgrammar.CompiledGrammar, text: str) -> bool:
    return refused_at(grammar, text) is None


def sample(grammar: xgrammar.CompiledGrammar, rng: random.Random, steps: int = 400) -> str | None:
    """A text written by choosing at random among the tokens that the mask allows; None when it finds no end.

    Markup is preferred, and more so the longer the text is, so that it ends.
    """
    matcher = xgrammar.GrammarMatcher(grammar)
    mask = xgrammar.allocate_token_bitmask(1, 256 + len(_SPECIAL))
    text = b""
    for step in range(steps):
        if matcher.is_completed() and (step > steps // 2 or rng.random() < 0.2):
            return text.decode()
        matcher.fill_next_token_bitmask(mask)
        allowed = [token for token in _allowed(mask) if token < 128 or 256 <= token < 256 + len(markers.ALL)]
        if not allowed:
            return text.decode() if matcher.is_completed() else None
        structure = [token for token in allowed if token >= 256 or chr(token) in '"}]0']
        token = rng.choice(structure if structure and rng.random() < 0.3 + step / steps else allowed)
        assert matcher.accept_token(token), "a mask that allows a token must accept it"
        text += _SPECIAL[token - 256].encode() if token >= 256 else bytes([token])
    return None


def _allowed(mask: torch.Tensor) -> list[int]:
    words: list[int] = mask[0].tolist()
    return [32 * at + bit for at, word in enumerate(words) for bit in range(32) if word >> bit & 1]
