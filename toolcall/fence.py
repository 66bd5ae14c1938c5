"""Whether a place in Markdown is quoted as code."""

import re
from typing import Final

_TICKS: Final = re.compile(r"`+|\n")
_FENCE: Final = 3
"""Backticks in a row that open or close a fenced block."""


class CodeTracker:
    """Follows text and knows whether its end stands inside a fenced block or an inline code span.

    Adding is cheap; the text is looked at only when asked, and only once.
    """

    def __init__(self) -> None:
        self._new: list[str] = []
        self._tail = ""
        self._fenced = False
        self._span = False

    def add(self, text: str) -> None:
        """Add text at the end."""
        self._new.append(text)

    def inside(self) -> bool:
        """Whether text added next would be code."""
        text = self._tail + "".join(self._new)
        self._new = []
        # A run of backticks at the end may yet grow: it is looked at again.
        stop = len(text.rstrip("`"))
        self._tail = text[stop:]
        self._fenced, self._span = self._after(text[:stop])
        fenced, span = self._after(self._tail)
        return fenced or span

    def _after(self, text: str) -> tuple[bool, bool]:
        fenced, span = self._fenced, self._span
        for found in _TICKS.finditer(text):
            if found.group() == "\n":
                span = False
            elif len(found.group()) >= _FENCE:
                fenced, span = not fenced, False
            else:
                span = not span and not fenced
        return fenced, span
