"""The suite over this library: its parser, its tags, its judgement of arguments."""

from collections.abc import Sequence
from importlib import metadata

import msgspec

from components.peers.protocol import Answer
from graphs.commands.toolcalls.conformance.results import Parser, Result, judge
from toolcall.conformance import Case, pieces, read, reading


def parser(cases: Sequence[Case], chunkings: int) -> Parser:
    """Read every case by our parser.

    Args:
        cases: The cases.
        chunkings: How many random ways to cut each output, beside whole and a character at a time.
    """
    results = tuple(_result(case, chunkings) for case in cases)
    return Parser("ours", metadata.version("dynamo-glm"), results)


def _result(case: Case, chunkings: int) -> Result:
    whole = _answer(case, "whole")
    chars = _answer(case, "chars")
    agree = _made(chars) == _made(whole)
    cut, shown = "chars", chars
    for seed in map(str, range(chunkings if agree else 0)):
        answer = _answer(case, seed)
        if _made(answer) != _made(whole):
            agree, cut, shown = False, seed, answer
            break
    return Result(case.id, case.kind, judge(case, whole, "whole"), judge(case, shown, cut), agree)


def _answer(case: Case, cut: str) -> Answer:
    try:
        answer = Answer(
            case.id, "whole" if cut == "whole" else "streamed", reading(read(case, pieces(case.output, cut)))
        )
        msgspec.json.encode(answer)
    except Exception as error:  # noqa: BLE001 - a case on which we fail is a result, and the others still count.
        return Answer(case.id, "streamed", error=f"{type(error).__name__}: {error}")
    return answer


def _made(answer: Answer) -> object:
    return answer.reading, answer.error
