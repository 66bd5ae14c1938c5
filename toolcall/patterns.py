"""Regular expressions of schemas, matched as JSON Schema means them: anywhere in the text, not anchored."""

import functools
import re

from toolcall.automaton import Automaton
from toolcall.expression import read
from toolcall.regular import searched


@functools.lru_cache(maxsize=1024)
def automaton(pattern: str) -> Automaton | None:
    """The automaton of the strings that an ECMA 262 pattern matches; None where there is none.

    Raises:
        ValueError: The pattern is not one that is read here, or is too large.
    """
    return searched(read(pattern))


def matches(pattern: str, text: str) -> bool:
    """Whether an ECMA 262 pattern matches somewhere in the text.

    A pattern that cannot be read here matches nothing; the check after the call reads it as ECMA 262 does.
    """
    try:
        found = automaton(pattern)
    except ValueError:
        compiled = _compiled(pattern)
        return compiled is not None and compiled.search(text) is not None
    return found is not None and found.matches(text)


@functools.lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    try:
        return re.compile(pattern)
    except re.error:
        return None
