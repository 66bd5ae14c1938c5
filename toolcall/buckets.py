"""OpenRouter's judgement of a call: the error buckets of its Tool Call Error Rate.

Source: "How Tool-Calling Success Rate Is Measured" in https://openrouter.ai/docs/guides/routing/auto-exacto (read in
November 2026). A call is judged as it leaves, by its name and the JSON text of its arguments, with
`new Validator(parameters, "7")` of `@cfworker/json-schema`; a schema that is absent or does not compile passes
everything. The rate is requests with a bad call over requests whose finish reason is `tool_calls`.

Unlike JSON Schema's own Draft 7, and unlike `toolcall.validator`, cfworker asserts `format`. Where its reading of one
differs from jsonschema-rs's, it stands here; `url` and `json-pointer-uri-fragment` are not asserted.
"""

import functools
import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal, NoReturn

import jsonschema_rs
import msgspec

Bucket = Literal["ok", "InvalidJson", "UnknownName", "SchemaMismatch"]
"""What a call is worth, under OpenRouter's names; `ok` for a good one."""

BUCKETS: Final[tuple[Bucket, ...]] = ("InvalidJson", "UnknownName", "SchemaMismatch", "ok")
"""All buckets, the one that tells most of a bad answer first."""


class Judge:
    """Judges the calls of one request.

    Its schemas are compiled here, the last 1,024 of them once: about 0.2 ms each, so make it off an event loop.

    Args:
        tools: The request's `tools` as the client sent them.
    """

    def __init__(self, tools: Sequence[dict[str, Any]] | None) -> None:
        self._validators: dict[str, jsonschema_rs.Draft7Validator | None] = {}
        for tool in tools or ():
            function = tool.get("function", tool)
            self._validators[function["name"]] = _compile(msgspec.json.encode(function.get("parameters")))

    def call(self, name: str, arguments: str) -> Bucket:
        """Judge one call.

        Args:
            name: The function's name.
            arguments: The JSON text of its arguments.
        """
        try:
            value = _JSON.decode(arguments)
        except (ValueError, RecursionError):
            return "InvalidJson"
        if name not in self._validators:
            return "UnknownName"
        validator = self._validators[name]
        return "ok" if validator is None or _is_valid(validator, value) else "SchemaMismatch"


def answer_bucket(calls: Iterable[Bucket]) -> Bucket:
    """Return the one bucket of an answer: `ok` only if all its calls are, else the first of `BUCKETS` among them."""
    return min(calls, key=BUCKETS.index, default="ok")


def _is_valid(validator: jsonschema_rs.Draft7Validator, value: Any) -> bool:
    try:
        return validator.is_valid(value)
    except ValueError:
        # Nothing that cannot be judged, such as half a surrogate pair, should flatter the rate.
        return False


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


_JSON: Final = json.JSONDecoder(parse_constant=_refuse)
"""As strict as `JSON.parse`."""


@functools.lru_cache(maxsize=1024)
def _compile(parameters: bytes) -> jsonschema_rs.Draft7Validator | None:
    schema = json.loads(parameters)
    if not isinstance(schema, dict):
        return None
    try:
        return jsonschema_rs.Draft7Validator(schema, validate_formats=True, formats=_FORMATS, offline=True)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError, RecursionError):
        return None


_STRICT_DATE_TIME: Final = jsonschema_rs.Draft7Validator({"format": "date-time"}, validate_formats=True)
_SEPARATOR: Final = re.compile(r"[tT\s]")
_UUID: Final = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
_DATE_PART: Final = r"(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)"
_TIME_PART: Final = r"T(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S)"
_DURATION: Final = re.compile(rf"P(?:\d+W|{_DATE_PART}(?:{_TIME_PART})?|{_TIME_PART})", re.ASCII)


def _is_date_time(text: str) -> bool:
    """RFC 3339 with its offset, but with any one blank in the place of the T."""
    parts = _SEPARATOR.split(text)
    return len(parts) == 2 and _STRICT_DATE_TIME.is_valid("T".join(parts))  # noqa: PLR2004 - a date and a time


def _is_anything(_text: str) -> bool:
    return True


_FORMATS: Final = {
    **dict.fromkeys(("idn-email", "idn-hostname", "iri", "iri-reference"), _is_anything),
    "date-time": _is_date_time,
    "duration": lambda text: _DURATION.fullmatch(text) is not None,
    "uuid": lambda text: _UUID.fullmatch(text) is not None,
}
