"""How the suite reads with a parser of text, whole and a character at a time."""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import msgspec

from components.peers.protocol import Answer, Mode
from toolcall.conformance import Case, Reading


class Reader(Protocol):
    """One reading of a case by a parser of text; a new one for every reading."""

    def __init__(self, case: Case) -> None:
        """Prepare the parser for the request of the case."""

    def whole(self) -> Reading:
        """Read the whole output at once."""

    def feed(self, text: str) -> None:
        """Read more of the output, in streaming."""

    def finish(self) -> Reading:
        """End the stream and return what came of it."""


def answers(reader: Callable[[Case], Reader], cases: Sequence[Case]) -> Iterator[Answer]:
    """Read each case whole, then a character at a time."""
    for case in cases:
        yield _answer(case, "whole", lambda case: reader(case).whole())
        yield _answer(case, "streamed", lambda case: _streamed(reader(case), case.output))


def _streamed(reader: Reader, output: str) -> Reading:
    for character in output:
        reader.feed(character)
    return reader.finish()


def _answer(case: Case, mode: Mode, read: Callable[[Case], Reading]) -> Answer:
    try:
        answer = Answer(case.id, mode, read(case))
        # Half a surrogate pair in a text cannot be sent to any client.
        msgspec.json.encode(answer)
    except Exception as error:  # noqa: BLE001 - whatever a parser raises is what it made of the case.
        return Answer(case.id, mode, error=f"{type(error).__name__}: {error}"[:300])
    return answer
