"""Bytes from a pipe to lines of text."""

import codecs
import io

LONGEST = 65_536


class LineSplitter:
    r"""Splits a byte stream into lines; `\n`, `\r\n` and a progress bar's `\r` end one.

    A line longer than `LONGEST` characters comes out in pieces, so a process that never ends its line is heard and
    cannot fill the memory. Bytes that are not UTF-8 become U+FFFD.
    """

    def __init__(self) -> None:
        self._decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder("utf-8")("replace"), translate=True)
        self._rest = ""

    def feed(self, data: bytes) -> list[str]:
        """The lines that `data` completes."""
        return self._split(self._decoder.decode(data))

    def flush(self) -> list[str]:
        """What is left at the end of the stream: the last line, when nothing ended it."""
        lines = self._split(self._decoder.decode(b"", final=True))
        rest, self._rest = self._rest, ""
        return [*lines, rest] if rest else lines

    def _split(self, text: str) -> list[str]:
        *whole, self._rest = (self._rest + text).split("\n")
        lines = [piece for line in whole for piece in _pieces(line)]
        while len(self._rest) > LONGEST:
            lines.append(self._rest[:LONGEST])
            self._rest = self._rest[LONGEST:]
        return lines


def _pieces(line: str) -> list[str]:
    return [line[at : at + LONGEST] for at in range(0, len(line), LONGEST)] or [line]
