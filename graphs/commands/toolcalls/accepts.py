"""`dynamo toolcall accepts`: whether a text gets past the tag of a request."""

from typing import Any

from graphs.commands.toolcalls.lines import answer_each
from graphs.commands.toolcalls.matcher import compile_tag, refused_at
from graphs.commands.toolcalls.tag import Request
from toolcall import build_tag


class Attempt(Request):
    """A request and the text that a model would like to write in answer."""

    text: str = ""


def run() -> int:
    """Answer the attempts on standard input; the exit code."""
    return answer_each(Attempt, _answer)


def _answer(attempt: Attempt) -> dict[str, Any]:
    tag = build_tag(attempt.read(), reasoning=attempt.reasoning)
    at = None if tag is None else refused_at(compile_tag(tag), attempt.text)
    return {"accepted": at is None, "at": at}
