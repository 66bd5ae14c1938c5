"""JSON objects on standard input, one a line, and on standard output."""

import sys
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import msgspec

from graphs.errors import Refusal
from toolcall import SchemaError, ToolSet, parse_tools

_Case = TypeVar("_Case", bound=msgspec.Struct)


class Tools(msgspec.Struct):
    """The part of a request that says what may be called, under OpenAI's names."""

    tools: list[dict[str, Any]] | None = None
    tool_choice: str | dict[str, Any] | None = None
    parallel_tool_calls: bool | None = None

    def read(self) -> ToolSet:
        """Return the tools, read.

        Raises:
            SchemaError: A tool or the choice cannot be used.
        """
        return parse_tools(self.tools, self.tool_choice, self.parallel_tool_calls)


def answer_each(kind: type[_Case], answer: Callable[[_Case], dict[str, Any] | None]) -> int:
    """Read a case from each line of standard input and write its answer as a line; the exit code.

    Lines end at a line feed only, since a value may hold other separators. Empty lines are passed over.

    Raises:
        Refusal: A line is no such case, or its tools cannot be used.
    """
    for number, line in _lines():
        try:
            answered = answer(msgspec.json.decode(line, type=kind))
        except (msgspec.DecodeError, msgspec.ValidationError, SchemaError) as error:
            raise Refusal(f"standard input, line {number}: {error}") from error
        sys.stdout.buffer.write(msgspec.json.encode(answered) + b"\n")
        sys.stdout.buffer.flush()
    return 0


def _lines() -> Iterator[tuple[int, bytes]]:
    for number, line in enumerate(sys.stdin.buffer, 1):
        if line.strip():
            yield number, line
