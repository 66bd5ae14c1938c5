"""One parser in a process of its own, timed on request: `python -m benchmarks.toolcall.readers NAME`.

Parsers do not share a process: vLLM patches torch as it is imported, and each would pay for the others' objects when
garbage is collected.
"""

import importlib
import sys
import time
from collections.abc import Callable
from typing import Final, Literal

import msgspec

from benchmarks.toolcall.streams import STREAMS
from toolcall.conformance import Case
from toolcall.parser import Parser, parse

Mode = Literal["whole", "streamed"]

OURS: Final = "ours"
_CHUNK: Final = 4
_LEAST_S: Final = 0.1


class Ready(msgspec.Struct, frozen=True):
    """The first answer: the parser is imported."""

    version: str


class Question(msgspec.Struct, frozen=True):
    """What to time."""

    stream: str
    mode: Mode


class Timed(msgspec.Struct, frozen=True):
    """CPU time of one reading, in seconds."""

    seconds: float


_Prepare = Callable[[Case, Mode], Callable[[], object]]
"""Makes a parser ready for one reading; what it returns reads, once."""


def _pieces(case: Case) -> list[str]:
    return [case.output[at : at + _CHUNK] for at in range(0, len(case.output), _CHUNK)]


def _ours(case: Case, mode: Mode) -> Callable[[], object]:
    tools = case.toolset()
    if mode == "whole":
        return lambda: parse(case.output, tools, reasoning=case.reasoning)
    parser, pieces = Parser(tools, reasoning=case.reasoning), _pieces(case)

    def stream() -> None:
        for piece in pieces:
            parser.feed(piece)
        parser.finish("stop")

    return stream


def _peer(name: str) -> tuple[str, _Prepare]:
    peer = importlib.import_module(f"components.peers.{name}")

    def prepare(case: Case, mode: Mode) -> Callable[[], object]:
        reader = peer.Reader(case)
        if mode == "whole":
            whole: Callable[[], object] = reader.whole
            return whole
        pieces = _pieces(case)
        # Without token ids, so that vLLM's parser need not look for its markers among them too.
        feed = (lambda piece: reader.step(piece, [])) if name == "vllm" else reader.feed

        def stream() -> None:
            for piece in pieces:
                feed(piece)
            reader.finish()

        return stream

    return peer.version(), prepare


def _time(prepare: _Prepare, question: Question) -> Timed:
    case = STREAMS[question.stream]
    spent, readings = 0.0, 0
    while spent < _LEAST_S:
        read = prepare(case, question.mode)
        # Of this thread, so that other work on the machine does not count.
        begun = time.thread_time()
        read()
        spent += time.thread_time() - begun
        readings += 1
    return Timed(spent / readings)


def main() -> None:
    """Answer questions, a JSON object a line, until there are no more."""
    name = sys.argv[1]
    # What an engine prints as it is imported must not stand among the answers.
    output, sys.stdout = sys.stdout, sys.stderr
    version, prepare = ("", _ours) if name == OURS else _peer(name)
    output.write(msgspec.json.encode(Ready(version)).decode() + "\n")
    output.flush()
    for line in sys.stdin:
        timed = _time(prepare, msgspec.json.decode(line, type=Question))
        output.write(msgspec.json.encode(timed).decode() + "\n")
        output.flush()


if __name__ == "__main__":
    main()
