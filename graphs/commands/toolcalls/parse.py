"""`dynamo toolcall parse`: what a model's output means."""

import random
from collections.abc import Iterator
from typing import Any

from graphs.commands.toolcalls.lines import Tools, answer_each
from graphs.errors import Refusal
from toolcall import CallStatus, Message, Parser
from toolcall.status import collect


class Case(Tools):
    """A case of the conformance suite, see `tests/conformance/data/README.md`; what else it holds is passed over."""

    id: str = ""
    output: str = ""
    thinking: bool = False
    prompt_tail: str | None = None
    engine_finish: str = "stop"

    @property
    def reasoning(self) -> bool:
        """Whether the prompt opened reasoning, so that the output starts inside it."""
        return self.thinking if self.prompt_tail is None else self.prompt_tail.endswith("<think>")


def run(chunks: str) -> int:
    """Answer the cases on standard input; the exit code.

    Raises:
        Refusal: A line is no case, or there is no such way to cut.
    """
    if chunks not in {"whole", "chars"} and not chunks.isdecimal():
        raise Refusal(f"--chunks {chunks}: whole, chars or a whole number is needed")
    return answer_each(Case, lambda case: _answer(case, chunks))


def _answer(case: Case, chunks: str) -> dict[str, Any]:
    message = read(case, chunks)
    return {
        "id": case.id,
        "reasoning": message.reasoning,
        "content": message.content,
        "tool_calls": [
            {"name": call.name, "arguments": call.arguments, **_status(call.status)} for call in message.tool_calls
        ],
        "finish_reason": message.finish_reason,
        "truncated": message.truncated,
    }


def read(case: Case, chunks: str) -> Message:
    """Read one output by the library's parser, in pieces."""
    parser = Parser(case.read(), reasoning=case.reasoning)
    events = [event for piece in pieces(case.output, chunks) for event in parser.feed(piece)]
    events += parser.finish(case.engine_finish)
    return collect(events, finish_reason=parser.finish_reason, truncated=parser.truncated)


def pieces(text: str, chunks: str) -> Iterator[str]:
    """Cut a text: `whole`, `chars`, or a seed for pieces of 1 to 12 characters."""
    if chunks == "whole":
        yield text
        return
    # Where a case is cut must be the same every time the seed is.
    rng = random.Random(0 if chunks == "chars" else int(chunks))  # noqa: S311
    start = 0
    while start < len(text):
        size = 1 if chunks == "chars" else rng.randint(1, 12)
        yield text[start : start + size]
        start += size


def _status(status: CallStatus) -> dict[str, str]:
    found = {"status": status.kind, "message": status.message, "path": status.path}
    return {name: value for name, value in found.items() if value}
