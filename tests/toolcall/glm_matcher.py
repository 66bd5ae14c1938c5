"""What an engine would let a model write, and texts that it might."""

import random

import torch
import xgrammar

# Behind xgrammar itself: masks need its torch half, which the commands do without.
from graphs.commands.toolcalls.matcher import BYTES, SPECIAL, compile_tag, compiler, refused_at, token_ids
from toolcall import markers

__all__ = ["admits", "compile_grammar", "compile_tag", "refused_at", "sample", "token_ids"]


def compile_grammar(ebnf: str) -> xgrammar.CompiledGrammar:
    grammar: xgrammar.CompiledGrammar = compiler().compile_grammar(ebnf)
    return grammar


def admits(grammar: xgrammar.CompiledGrammar, text: str) -> bool:
    return refused_at(grammar, text) is None


def sample(grammar: xgrammar.CompiledGrammar, rng: random.Random, steps: int = 400) -> str | None:
    """A text written by choosing at random among the tokens that the mask allows; None when it finds no end.

    Markup is preferred, and more so the longer the text is, so that it ends.
    """
    matcher = xgrammar.GrammarMatcher(grammar)
    mask = xgrammar.allocate_token_bitmask(1, BYTES + len(SPECIAL))
    text = b""
    for step in range(steps):
        if matcher.is_completed() and (step > steps // 2 or rng.random() < 0.2):
            return text.decode()
        matcher.fill_next_token_bitmask(mask)
        allowed = [token for token in _allowed(mask) if token < 128 or BYTES <= token < BYTES + len(markers.ALL)]
        if not allowed:
            return text.decode() if matcher.is_completed() else None
        structure = [token for token in allowed if token >= BYTES or chr(token) in '"}]0']
        token = rng.choice(structure if structure and rng.random() < 0.3 + step / steps else allowed)
        assert matcher.accept_token(token), "a mask that allows a token must accept it"
        text += SPECIAL[token - BYTES].encode() if token >= BYTES else bytes([token])
    return None


def _allowed(mask: torch.Tensor) -> list[int]:
    words: list[int] = mask[0].tolist()
    return [32 * at + bit for at, word in enumerate(words) for bit in range(32) if word >> bit & 1]
