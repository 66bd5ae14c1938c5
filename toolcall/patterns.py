"""Regular expressions of schemas, matched as JSON Schema means them: anywhere in the text, not anchored."""

import functools
import re


@functools.lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    try:
        return re.compile(pattern)
    except re.error:
        return None


def matches(pattern: str, text: str) -> bool:
    """Whether an ECMA 262 pattern matches somewhere in the text.

    A pattern that Python cannot read matches nothing here; the check after the call reads it as ECMA 262 does.
    """
    compiled = _compiled(pattern)
    return compiled is not None and compiled.search(text) is not None
