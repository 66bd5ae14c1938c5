"""`dynamo toolcall parse`: what a model's output means."""

from typing import Any

from graphs.commands.toolcalls.lines import answer_each
from graphs.errors import Refusal
from toolcall import CallStatus
from toolcall.conformance import Case, pieces, read


def run(chunks: str) -> int:
    """Answer the cases on standard input, see `tests/conformance/data/README.md`; the exit code.

    Raises:
        Refusal: A line is no case, or there is no such way to cut.
    """
    if chunks not in {"whole", "chars"} and not chunks.isdecimal():
        raise Refusal(f"--chunks {chunks}: whole, chars or a whole number is needed")
    return answer_each(Case, lambda case: _answer(case, chunks))


def _answer(case: Case, chunks: str) -> dict[str, Any]:
    message = read(case, pieces(case.output, chunks))
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


def _status(status: CallStatus) -> dict[str, str]:
    found = {"status": status.kind, "message": status.message, "path": status.path}
    return {name: value for name, value in found.items() if value}
