"""What is said between the suite and another parser: cases in, readings out, a JSON object a line.

The parser is told every case on standard input. It writes its name and version, then for each case two answers, the
output read whole and the output read in the smallest steps that it takes: a character, or for Dynamo a token.
"""

from collections.abc import Sequence
from typing import Literal, get_args

import msgspec

from toolcall.conformance import Case, Reading

Mode = Literal["whole", "streamed"]
MODES: tuple[Mode, ...] = get_args(Mode)


class Peer(msgspec.Struct, frozen=True):
    """Which parser answers."""

    name: str
    version: str


class Answer(msgspec.Struct, frozen=True):
    """What a parser made of a case; `error` in place of a reading where it raised, or where its API refused."""

    id: str
    mode: Mode
    reading: Reading | None = None
    error: str | None = None


class ProtocolError(ValueError):
    """A parser's output is not what the suite asked for."""


def line(item: msgspec.Struct) -> bytes:
    """Return an object as a line of JSON in UTF-8."""
    return msgspec.json.encode(item) + b"\n"


def read_answers(output: bytes, cases: Sequence[Case]) -> tuple[Peer, list[tuple[Answer, Answer]]]:
    """Read a parser's output.

    Args:
        output: All of its standard output.
        cases: What it was asked.

    Returns:
        Which parser it was, and for each case its answers whole and streamed.

    Raises:
        ProtocolError: A line is damaged, missing, or of another case.
    """
    # Lines end at a line feed only, since values hold other separators.
    first, *rest = output.removesuffix(b"\n").split(b"\n")
    try:
        peer = msgspec.json.decode(first, type=Peer)
        answers = [msgspec.json.decode(each, type=Answer) for each in rest]
    except msgspec.DecodeError as error:
        raise ProtocolError(str(error)) from error
    asked = [(case.id, mode) for case in cases for mode in MODES]
    for number, (wanted, answer) in enumerate(zip(asked, answers, strict=False), 2):
        if (answer.id, answer.mode) != wanted:
            raise ProtocolError(f"line {number} is {answer.id}, {answer.mode}, not {', '.join(wanted)}")
    if len(asked) != len(answers):
        raise ProtocolError(f"{len(answers)} answers to {len(asked)} questions")
    return peer, list(zip(answers[::2], answers[1::2], strict=True))
