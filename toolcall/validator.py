"""The judge of arguments: the client's own schema under JSON Schema Draft 7.

Draft 7 is what OpenRouter judges a provider's calls by. It does not assert `format`, so neither does this.
"""

import copy
from typing import Any, Final

import jsonschema_rs
import msgspec

from toolcall.errors import SchemaError, json_path
from toolcall.refs import find_dangling, quoted

_REPAIRS: Final = 64
"""Most odd keywords taken out of one schema before it counts as unusable."""

_DISPENSABLE: Final = frozenset(
    {
        "$comment", "$id", "$schema", "contentEncoding", "contentMediaType", "default", "description", "examples",
        "format", "pattern", "readOnly", "title", "writeOnly",
    }
)  # fmt: skip
"""Keywords whose loss leaves a schema that still says what it is about."""


def compile_schema(schema: dict[str, Any], path: str) -> tuple[dict[str, Any], jsonschema_rs.Draft7Validator]:
    """Compile a client's schema, forgiving what is odd but plain in meaning.

    Forgiven: keywords set to null, the boolean `exclusiveMinimum` of Draft 4, the boolean `required` of Draft 3,
    references that are not quite URIs, and malformed annotations and patterns.

    Args:
        schema: The schema as the client sent it; never changed.
        path: JSON path of the schema in the request, for messages.

    Returns:
        The schema as compiled, the same object when nothing had to be forgiven, and its validator.

    Raises:
        SchemaError: The schema cannot be used.
    """
    repaired = schema
    for _ in range(_REPAIRS):
        try:
            return repaired, jsonschema_rs.Draft7Validator(repaired, validate_formats=False, offline=True)
        except jsonschema_rs.ValidationError as error:
            at = error.instance_path
            if repaired != quoted(repaired):
                repaired = quoted(repaired)
                continue
            if not at:
                dangling = find_dangling(repaired)
                where = json_path(path, *dangling) if dangling else path
                raise SchemaError(where, _one_line(error.message)) from None
            if repaired is schema:
                repaired = copy.deepcopy(schema)
            if not _repair(repaired, at):
                raise SchemaError(json_path(path, *at), _one_line(error.message)) from None
        except (ValueError, RecursionError) as error:
            raise SchemaError(path, _one_line(str(error))) from None
    raise SchemaError(path, "too many malformed keywords")


def _repair(schema: Any, at: list[str | int]) -> bool:
    """Mend the keyword at this path in place; False when its meaning is not plain."""
    holder = schema
    for step in at[:-1]:
        holder = holder[step]
    keyword = at[-1]
    if isinstance(holder, list):
        # A malformed member of a list, such as `required: [3]`, spoils the list.
        return False
    value = holder[keyword]
    if keyword in ("exclusiveMinimum", "exclusiveMaximum") and isinstance(value, bool):
        bound = str(keyword).replace("exclusiveM", "m")
        del holder[keyword]
        if value and bound in holder:
            holder[keyword] = holder.pop(bound)
        return True
    if value is None or keyword in _DISPENSABLE or (keyword == "required" and isinstance(value, bool)):
        del holder[keyword]
        return True
    return False


def _one_line(message: str) -> str:
    return " ".join(message.split())[:300]


class Problem(msgspec.Struct, frozen=True):
    """One way in which arguments fail their schema.

    Attributes:
        path: JSON path of the value, `$` for the arguments object itself.
        message: What is wrong with it.
        keyword: The keyword of the schema that it fails; empty when the value could not be read at all.
    """

    path: str
    message: str
    keyword: str = ""


def problems(validator: jsonschema_rs.Draft7Validator, arguments: Any) -> list[Problem]:
    """Every way in which arguments fail a schema; empty when they are valid."""
    try:
        return [
            Problem(
                json_path("$", *error.instance_path), _one_line(error.message), str((error.schema_path or [""])[-1])
            )
            for error in validator.iter_errors(arguments)
        ]
    except ValueError as error:
        # Half a surrogate pair is no character: it cannot be sent, let alone judged.
        return [Problem("$", _one_line(str(error)))]


def first_problem(
    validator: jsonschema_rs.Draft7Validator, arguments: dict[str, Any], unread: list[tuple[str, str]]
) -> Problem | None:
    """The problem to report of a call: a value that could not be read, else the first that fails its schema."""
    if unread:
        key, message = unread[0]
        return Problem(json_path("$", key), message)
    try:
        if validator.is_valid(arguments):
            return None
    except ValueError as error:
        return Problem("$", _one_line(str(error)))
    return problems(validator, arguments)[0]
