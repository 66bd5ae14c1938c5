"""`dynamo toolcall tag`: the structural tag of a request."""

from typing import Any, Literal

from graphs.commands.toolcalls.lines import Tools, answer_each
from toolcall import build_tag


class Request(Tools):
    """What a tag is built from; `reasoning` says who lets the reasoning before the answer pass."""

    reasoning: Literal["none", "tag", "engine"] = "none"


def run() -> int:
    """Answer the requests on standard input; the exit code."""
    return answer_each(Request, _answer)


def _answer(request: Request) -> dict[str, Any] | None:
    return build_tag(request.read(), reasoning=request.reasoning)
