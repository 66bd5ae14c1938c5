"""What the properties of the tag are judged by: the client's own schema under JSON Schema Draft 7."""

import functools
import json
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
from jsonschema import Draft7Validator, ValidationError, validators

from toolcall import Message, Tool, ToolSet, parse


def function(schema: Any, name: str = "f") -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": schema}}


@functools.cache
def _ecma(pattern: str) -> jsonschema_rs.Draft7Validator:
    return jsonschema_rs.Draft7Validator({"pattern": pattern})


def _pattern(_: Any, pattern: str, instance: Any, __: Any) -> Iterator[ValidationError]:
    # Python's `$` and `\\d` are not those of ECMA 262, which JSON Schema names.
    if isinstance(instance, str) and not _ecma(pattern).is_valid(instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


_Judge: Any = validators.extend(Draft7Validator, {"pattern": _pattern})  # type: ignore[no-untyped-call]


def validator(schema: Any) -> Any:
    """The judge of values under a schema."""
    return _Judge(schema)


def unsound(tools: ToolSet, text: str) -> str | None:
    """Why a text that the tag admits breaks the promise of soundness; None when it does not."""
    message = parse(text, tools, reasoning=False)
    if "<tool_call>" in text and not message.tool_calls:
        return f"no call was read: {message}"
    if "<tool_call>" in message.content:
        return f"markup was read as content: {message}"
    return next((problem for call in range(len(message.tool_calls)) if (problem := _wrong(tools, message, call))), None)


def _wrong(tools: ToolSet, message: Message, index: int) -> str | None:
    call = message.tool_calls[index]
    tool = tools.by_name(call.name)
    if tool is None:
        return f"undeclared tool {call.name!r}"
    arguments = json.loads(call.arguments)
    errors = validator(tool.parameters).iter_errors(arguments)
    left = [error.message for error in errors if not _left_to_the_check(tool, error)]
    return f"{arguments}: {left}" if left else None


def _left_to_the_check(tool: Tool, error: ValidationError) -> bool:
    """Whether an error is of a keyword that the tag does not claim to enforce."""
    if {each.keyword for each in tool.remainder} & set(error.absolute_schema_path):
        return True
    branches: dict[Any, list[ValidationError]] = {}
    for inner in error.context or ():
        branches.setdefault(inner.schema_path[0], []).append(inner)
    return error.validator in ("anyOf", "oneOf") and any(
        all(_left_to_the_check(tool, inner) for inner in branch) for branch in branches.values()
    )
