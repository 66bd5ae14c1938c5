"""The text being read: what has arrived and is not yet understood, and what may have to be read again."""


class Cursor:
    """A position in a growing text.

    Attributes:
        text: The text at hand; whoever reads adds to its end.
        at: Where to go on.
        final: No more text will come.
    """

    def __init__(self) -> None:
        self.text = ""
        self.at = 0
        self.final = False
        self._mark: int | None = None
        self._kept: list[str] = []
        self._kept_length = 0

    def compact(self) -> None:
        """Let go of what has been read; what stands behind the mark is kept aside."""
        if self._mark is not None:
            self._kept.append(self.text[self._mark : self.at])
            self._kept_length += self.at - self._mark
            self._mark = 0
        self.text = self.text[self.at :]
        self.at = 0

    def skip(self, text: str) -> None:
        """Add text that is read already; only when nothing is left to read."""
        if self._mark is not None:
            self._kept.append(text)
            self._kept_length += len(text)

    def mark(self, at: int) -> None:
        """Remember a position, so that `seek` can return to it."""
        self.unmark()
        self._mark = at

    def unmark(self) -> None:
        """Forget the marked position."""
        self._mark = None
        self._kept, self._kept_length = [], 0

    def offset(self) -> int:
        """Characters from the mark to here."""
        return self._kept_length + self.at - (self._mark or 0)

    def since_mark(self) -> str:
        """The text from the mark to the end."""
        return "".join(self._kept) + self.text[self._mark or 0 :]

    def seek(self, offset: int) -> None:
        """Go back to a position, counted from the mark."""
        if offset >= self._kept_length:
            self.at = (self._mark or 0) + offset - self._kept_length
            return
        kept = "".join(self._kept)
        self.text = kept[offset:] + self.text[self._mark or 0 :]
        self._kept, self._kept_length = [kept[:offset]], offset
        self._mark = self.at = 0
