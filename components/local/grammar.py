"""Constrained decoding: which tokens may come next, by xgrammar."""

import asyncio
import json
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from components.local.lean_xgrammar import xgrammar
from components.local.vocabulary import Vocabulary

# Where in xgrammar's sources it was found, which tells a client nothing.
_PLACE = re.compile(r"\[[0-9:]+\] \S+:[0-9]+: (?:Check failed: .*? is false: (?=\S))?")
_CACHE_BYTES = 64 << 20
_THREADS = 2


class GrammarError(ValueError):
    """A grammar that xgrammar refuses; the message is fit for the client."""


class Matcher:
    """Where one answer stands in its grammar."""

    def __init__(self, grammar: xgrammar.CompiledGrammar, size: int) -> None:
        self._matcher = xgrammar.GrammarMatcher(grammar)
        self._words: Final = np.zeros((1, -(-size // 32)), dtype=np.int32)
        self._bytes: Final = self._words.view(np.uint8)[0]
        self._size: Final = size

    def allowed(self) -> npt.NDArray[np.uint8]:
        """Return 1 for each token that may come next and 0 for the others, shape (vocabulary,)."""
        self._matcher.fill_next_token_bitmask(self._words)
        return np.unpackbits(self._bytes, count=self._size, bitorder="little")

    def accept(self, token: int) -> None:
        """Move on by one token.

        Raises:
            RuntimeError: The token was not an allowed one.
        """
        if not self._matcher.accept_token(token):
            raise RuntimeError(f"the grammar does not accept token {token}")


class Compiler:
    """Compiles grammars for one vocabulary, off the event loop, and keeps the recent ones.

    xgrammar releases the GIL while it compiles; its own cache is keyed by the grammar's text and bounded in bytes.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        info = xgrammar.TokenizerInfo(
            list(vocabulary.data), xgrammar.VocabType.RAW, stop_token_ids=sorted(vocabulary.end_ids)
        )
        self._compiler = xgrammar.GrammarCompiler(info, max_threads=_THREADS, cache_limit_bytes=_CACHE_BYTES)
        self._threads = ThreadPoolExecutor(max_workers=_THREADS, thread_name_prefix="grammar")
        self._size = len(vocabulary.data)

    async def matcher(self, guided: dict[str, Any]) -> Matcher | None:
        """Compile the `guided_decoding` of a request; None when it constrains nothing.

        A grammar binds from the first token of the answer. It is the request's structural tag that describes the
        reasoning, when the prompt has opened it, not the engine that waits for its end.

        Raises:
            GrammarError: The grammar cannot be compiled.
        """
        kind = next((kind for kind in _COMPILE if guided.get(kind) is not None), None)
        if kind is None:
            return None
        loop = asyncio.get_running_loop()
        return Matcher(await loop.run_in_executor(self._threads, self._compile, kind, guided[kind]), self._size)

    def _compile(self, kind: str, value: Any) -> xgrammar.CompiledGrammar:
        try:
            return _COMPILE[kind](self._compiler, value)
        except (RuntimeError, ValueError, TypeError, AttributeError) as error:
            raise GrammarError(f"guided_decoding.{kind}: {_PLACE.sub('', str(error)).strip()}") from error


def _structural_tag(compiler: xgrammar.GrammarCompiler, value: Any) -> xgrammar.CompiledGrammar:
    return compiler.compile_structural_tag(_as_json(value))


def _json(compiler: xgrammar.GrammarCompiler, value: Any) -> xgrammar.CompiledGrammar:
    return compiler.compile_json_schema(_as_json(value))


def _regex(compiler: xgrammar.GrammarCompiler, value: Any) -> xgrammar.CompiledGrammar:
    return compiler.compile_regex(_text(value))


def _choice(compiler: xgrammar.GrammarCompiler, value: Any) -> xgrammar.CompiledGrammar:
    # An EBNF string literal escapes as JSON's does.
    return compiler.compile_grammar("root ::= " + " | ".join(json.dumps(text, ensure_ascii=False) for text in value))


def _grammar(compiler: xgrammar.GrammarCompiler, value: Any) -> xgrammar.CompiledGrammar:
    return compiler.compile_grammar(_text(value))


def _text(value: Any) -> str:
    # Its binding looks for a tensor in what is not a string, and imports torch for that.
    if not isinstance(value, str):
        raise TypeError(f"has to be a string, not {value!r}")
    return value


def _as_json(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


_COMPILE: Final[dict[str, Callable[[xgrammar.GrammarCompiler, Any], xgrammar.CompiledGrammar]]] = {
    "structural_tag": _structural_tag,
    "json": _json,
    "regex": _regex,
    "choice": _choice,
    "grammar": _grammar,
}
