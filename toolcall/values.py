"""What the text between `<arg_value>` and `</arg_value>` means.

GLM writes strings raw and everything else as JSON, with nothing to tell which it is; the schema tells.
"""

import json
import math
import re
from collections.abc import Iterable
from typing import Any, Final, Literal, NoReturn

import jsonschema_rs
import msgspec

from toolcall import nodes as n
from toolcall.admit import admits, member

JSON_SPACE: Final = " \t\n\r"
"""What JSON, and the layout of a call, count as whitespace."""

_LEADS: Final = {n.Null: "n", n.Boolean: "tf", n.Number: "-0123456789", n.Array: "[", n.Object: "{"}
_DEEPEST: Final = 128
_HALF: Final = re.compile("[\ud800-\udfff]")
_HALF_ESCAPED: Final = re.compile(r"\\u[dD][89a-fA-F]")
_PROBE: Final = "x-toolcall-argument"
_WORDS: Final = ("null", "true", "false")

encode_string: Final = json.JSONEncoder(ensure_ascii=False).encode
"""The JSON text of a string, letters beyond ASCII as they are."""


class Argument(msgspec.Struct, frozen=True):
    """How the value of one argument is read.

    Attributes:
        kind: `text`: always a string, verbatim; `json`: never a string; `either`: JSON where that is allowed, else a
            string.
        leads: Characters that JSON of an allowed type begins with.
        boolean: Only a boolean is allowed (or null), so `True` and `False` are understood.
        node: What is allowed.
        definitions: What the references in `node` stand for.
        judge: Validator of the client's own schema for this argument, where the node alone cannot decide.
    """

    kind: Literal["text", "json", "either"]
    leads: str
    boolean: bool
    node: n.Node
    definitions: dict[str, n.Node]
    judge: jsonschema_rs.Draft7Validator | None = None

    def surely_text(self, start: str) -> bool:
        """Whether a value that begins so can only be a string."""
        if self.kind != "either":
            return self.kind == "text"
        lead = start.lstrip(JSON_SPACE)
        if not lead:
            return False
        if lead[0] not in self.leads:
            return True
        if lead[0] not in "ntf":
            return False
        word = lead.rstrip(JSON_SPACE)
        return not any(known == word or (word == lead and known.startswith(word)) for known in _WORDS)

    def allows(self, value: Any) -> bool:
        """Whether a value that is not a string is allowed."""
        if not admits(self.definitions, self.node, value):
            return False
        return self.judge is None or self.judge.is_valid(value)


class Reading(msgspec.Struct, frozen=True):
    """A value read.

    Attributes:
        value: The value.
        text: Its JSON text, as written where that was JSON.
        problem: Why it is not what the schema asks for; empty when nothing is known to be wrong.
        repair: What had to be mended; empty when nothing had.
    """

    value: Any
    text: str
    problem: str = ""
    repair: str = ""


def read(argument: Argument, raw: str) -> Reading:
    """Read a complete value."""
    if argument.kind == "text":
        return Reading(raw, encode_string(raw))
    decoded = decode(raw)
    if argument.kind == "either":
        if decoded is None or isinstance(decoded.value, str) or not argument.allows(decoded.value):
            return Reading(raw, encode_string(raw))
        return decoded
    if decoded is not None:
        return decoded
    word = raw.strip(JSON_SPACE)
    if argument.boolean and word in ("True", "False"):
        return Reading(word == "True", word.lower(), repair=f"{word} read as {word.lower()}")
    return Reading(raw, encode_string(raw), problem="is not JSON")


def decode(raw: str) -> Reading | None:
    """Read JSON text; None when it is none, nests more than 128 levels deep or holds a number that no double can."""
    repeated = False

    def pairs(members: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal repeated
        built = dict(members)
        repeated = repeated or len(built) != len(members)
        return built

    text = raw.strip(JSON_SPACE)
    repair = ""
    try:
        value = json.loads(text, object_pairs_hook=pairs, parse_float=_finite, parse_constant=_refuse)
    except (ValueError, RecursionError):
        try:
            value = json.loads(text, strict=False, object_pairs_hook=pairs, parse_float=_finite, parse_constant=_refuse)
        except (ValueError, RecursionError):
            return None
        repair = "raw control character in a JSON string"
    if text.count("[") + text.count("{") > _DEEPEST and _too_deep(value):
        return None
    if _HALF_ESCAPED.search(text) and _HALF.search(written := json.dumps(value, ensure_ascii=False)):
        # JSON can escape half of a surrogate pair, but no UTF-8 can hold it and many parsers refuse it.
        value = json.loads(_HALF.sub("\ufffd", written))
        repair = "half of a surrogate pair replaced"
    elif repeated and not repair:
        repair = "repeated member of an object dropped"
    return Reading(value, json.dumps(value, ensure_ascii=False) if repair else text, repair=repair)


def _too_deep(value: Any) -> bool:
    """Whether a value nests so deep that what looks into it could run out of stack."""
    level = [value]
    for _ in range(_DEEPEST):
        level = [
            inner
            for each in level
            if isinstance(each, dict | list)
            for inner in (each.values() if isinstance(each, dict) else each)
        ]
        if not level:
            return False
    return True


def _finite(number: str) -> float:
    value = float(number)
    return value if math.isfinite(value) else _refuse(number)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def argument_of(
    node: n.Node, shape: n.Shape, parameters: dict[str, Any] | None = None, sources: Iterable[str] = ()
) -> Argument:
    """How values of a node are read.

    Args:
        node: The node.
        shape: The schema it stands in.
        parameters: The client's schema.
        sources: JSON pointers of the argument in it.
    """
    leads, text, plain = "", False, True
    options = shape.options(node)
    for option in options:
        match option:
            case n.AnyValue():
                leads, text = leads + "".join(_LEADS.values()), True
            case n.Text():
                text = True
            case n.Literals(values):
                text = text or any(isinstance(value, str) for value in values)
                leads += "".join(json.dumps(value)[0] for value in values if not isinstance(value, str))
            case _:
                leads += _LEADS[type(option)]
                plain = plain and isinstance(option, n.Null | n.Boolean)
    kind: Literal["text", "json", "either"] = "json" if not text else "either" if leads else "text"
    judge = None
    if kind == "either" and not plain and parameters is not None:
        judge = _judge(parameters, tuple(sources))
    boolean = bool(options) and all(isinstance(option, n.Null | n.Boolean) for option in options)
    return Argument(kind, leads, boolean, node, shape.definitions, judge)


def _judge(parameters: dict[str, Any], sources: tuple[str, ...]) -> jsonschema_rs.Draft7Validator | None:
    """A validator of one argument, with the client's schema around it for its references.

    Draft 7 ignores keywords beside `$ref`, so the schema itself can stand there unasserted.
    """
    if not sources:
        return None
    probe = {**parameters, "$ref": f"#/{_PROBE}", _PROBE: {"allOf": [{"$ref": f"#{source}"} for source in sources]}}
    return jsonschema_rs.Draft7Validator(probe, validate_formats=False, offline=True)


def arguments_of(form: n.Object, shape: n.Shape, parameters: dict[str, Any]) -> dict[str, Argument]:
    """How each declared argument of one form is read."""
    return {known.name: argument_of(known.node, shape, parameters, known.sources) for known in form.properties}


def undeclared_argument(form: n.Object | None, shape: n.Shape | None, name: str) -> Argument:
    """How the value of a key that is not declared is read: by what the object allows there, else by value."""
    allowed = member(form, name) if form is not None else []
    return argument_of(allowed[0] if allowed else n.ANY, shape or n.Shape(n.ANY, {}))
