"""Hypothesis strategies: schemas as agents send them, each with a strategy of the values that are valid under it."""

import functools
from typing import Any, NamedTuple

from hypothesis import strategies as st

from tests.toolcall.judge import validator

Values = st.SearchStrategy[Any]


class Case(NamedTuple):
    """A schema, and values valid under it."""

    schema: Any
    values: Values


_SNIPPETS = (
    "", "null", "true", "42", "-1.5", '"q"', "{", '{"a": 1}', "[1, 2]", "<", "</", "</arg", "<b>", "</b>", "\n", " ",
    "é", "<tool_call>", "</tool_call>", "<arg_key>", "</arg_key>", "<arg_value>", "<think>", "</think>", "\\", "&lt;",
    "<tool_call>other<arg_key>k</arg_key><arg_value>", "<arg_key>k</arg_key><arg_value>",
    "<tool_call>other</tool_call>",
)  # fmt: skip
_LETTERS = st.text(st.characters(codec="utf-8"), max_size=6)
_KEYS = ("path", "path2", "a b", "é", "a.b*c", "x[0]", "n", "items", "-A", "type")
_FORMATS = {"date": "2026-02-03", "date-time": "2026-02-03T04:05:06Z", "time": "04:05:06Z", "uri": "https://e.test/"}
PATTERNS = (
    "a", r"^\d{2}", r"\d$", r"^[a-z]+$", "^[A-Za-z0-9._-]+$", r"^\d+(-\d+)?$", "^sh_[0-9a-f]{4,12}$",
    "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "^[A-Z]{2,10}-[0-9]+$", "^(?:red|green|blue|)$", r"^-?(0|[1-9]\d*)(\.\d+)?$",
    "^#[0-9a-fA-F]{6}$", "^https?://", "^/", r"^/[^\x00]*$", r"\S", r"^\S+$", r"^[^\s/]*$", "^.{0,3}$", "^.+$",
    r"^[\s\S]*$", "^<[a-z/]+>$", "^[^>]*$", "^[<a-z]*$", "^</?[a-z]*>?$", r'^"[^"]*"$', r"^\\[a-z]$", r"^[^\\]*$",
    "^[\u00e0-\u00ff]+$", "^[\u4e00-\u9fff]*$", "^[a😀]+$", "^[\U0001f600-\U0001f64f]?$", r"^\w+\n$", r"^[\x00-\x1f]*$",
    r"^[^a-z]*$", r"\.py$", r"^[^@\s]+@[^@\s]+\.[a-z]{2,}$", "^$", "", "^(a|b$)|c", r"^\W", r"^(\d{1,3}\.){3}\d{1,3}$",
    "^[^<]{0,2}$", "(?=x)x", r"\bx", r"^(?!-)", r"^(a)\1$", r"^(?:x{2}){3}",
)  # fmt: skip


@functools.cache
def _matching(pattern: str) -> Values:
    return st.from_regex(pattern, alphabet=st.characters(codec="utf-8"))


def texts() -> Values:
    """Strings that GLM's form can write wherever they stand."""
    mixed = st.lists(st.one_of(_LETTERS, st.sampled_from(_SNIPPETS)), max_size=4).map("".join)
    return mixed.filter(lambda text: "</arg_v" not in text)


@st.composite
def _text(draw: st.DrawFn) -> Case:
    schema: dict[str, Any] = {"type": "string"}
    kind = draw(st.sampled_from(["plain", "plain", "length", "pattern", "format"]))
    if kind == "pattern":
        schema["pattern"] = pattern = draw(st.sampled_from(PATTERNS))
        schema |= draw(st.sampled_from([{}, {}, {"minLength": 1}, {"maxLength": 8}]))
        valid = validator(schema).is_valid
        return Case(schema, _matching(pattern).filter(lambda text: "</arg_v" not in text and valid(text)))
    if kind == "format":
        schema["format"] = name = draw(st.sampled_from(sorted(_FORMATS)))
        return Case(schema, st.just(_FORMATS[name]))
    values = texts()
    if kind == "length":
        schema["minLength"] = least = draw(st.integers(0, 3))
        schema["maxLength"] = most = least + draw(st.integers(0, 40))
        values = values.map(lambda text: (text + "xyz")[: max(least, min(most, len(text)))])
        values = values.filter(lambda text: least <= len(text) <= most)
    return Case(schema, values)


@st.composite
def _number(draw: st.DrawFn) -> Case:
    integer = draw(st.booleans())
    schema: dict[str, Any] = {"type": "integer" if integer else "number"}
    low = draw(st.none() | st.integers(-1000, 1000))
    high = draw(st.none() | st.integers(0, 2000).map(lambda width: (low or 0) + width + 1))
    if low is not None:
        schema[draw(st.sampled_from(["minimum", "exclusiveMinimum"]))] = low
    if high is not None:
        schema[draw(st.sampled_from(["maximum", "exclusiveMaximum"]))] = high
    least = None if low is None else low + ("exclusiveMinimum" in schema)
    most = None if high is None else high - ("exclusiveMaximum" in schema)
    if most is not None and least is not None and least > most:
        return Case({"type": "boolean"}, st.booleans())
    if integer:
        return Case(schema, st.integers(least, most).filter(lambda value: abs(value) < 10**40))
    # Numbers just below the greatest double are beyond the tag.
    floats = st.floats(least, most, allow_nan=False, allow_infinity=False)
    return Case(schema, floats.filter(lambda value: abs(value) < 1e308))


@st.composite
def _listed(draw: st.DrawFn) -> Case:
    literals = draw(
        st.lists(
            st.sampled_from(["a", "very high", "<max>", "7", 8, True, None, 1.5, {"k": [1]}]), min_size=1, max_size=5
        )
    )
    if len(literals) == 1 and draw(st.booleans()):
        return Case({"const": literals[0]}, st.just(literals[0]))
    return Case({"enum": literals}, st.sampled_from(literals))


def _scalar() -> st.SearchStrategy[Case]:
    plain = st.sampled_from(
        [Case({"type": "boolean"}, st.booleans()), Case({"type": "null"}, st.none()), Case({}, _anything())]
    )
    return st.one_of(_text(), _text(), _number(), _listed(), plain)


def _anything() -> Values:
    leaf = st.one_of(st.none(), st.booleans(), st.integers(-99, 99), texts())
    return st.recursive(leaf, lambda inner: st.lists(inner, max_size=2), max_leaves=3)


@st.composite
def _array(draw: st.DrawFn, depth: int) -> Case:
    items = draw(case(depth - 1))
    least = draw(st.integers(0, 2))
    schema: dict[str, Any] = {"type": "array", "items": items.schema}
    most = draw(st.none() | st.integers(least, 4))
    if least:
        schema["minItems"] = least
    if most is not None:
        schema["maxItems"] = most
    return Case(schema, st.lists(items.values, min_size=least, max_size=most if most is not None else least + 2))


@st.composite
def object_case(draw: st.DrawFn, depth: int, most: int = 4) -> Case:
    """An object schema; its values keep the declared order."""
    names = draw(st.lists(st.sampled_from(_KEYS), unique=True, max_size=most))
    cases = {name: draw(case(depth - 1)) for name in names}
    required = draw(st.lists(st.sampled_from(names), unique=True)) if names else []
    schema: dict[str, Any] = {"type": "object", "properties": {name: each.schema for name, each in cases.items()}}
    if required:
        schema["required"] = required
    closed = draw(st.sampled_from([None, False, True, {"type": "integer"}]))
    if closed is not None:
        schema["additionalProperties"] = closed
    optional = {name: each.values for name, each in cases.items() if name not in required}
    values = st.fixed_dictionaries(
        {name: each.values for name, each in cases.items() if name in required}, optional=optional
    ).map(lambda value: {name: value[name] for name in names if name in value})
    if closed is None or closed is False:
        return Case(schema, values)
    extra = st.dictionaries(st.sampled_from(["zz", "pat", "path3", "q r"]), st.integers(0, 9), max_size=2)
    return Case(schema, st.tuples(values, extra).map(lambda both: {**both[0], **both[1]}))


@st.composite
def _combined(draw: st.DrawFn, depth: int) -> Case:
    kind = draw(st.sampled_from(["anyOf", "nullable", "allOf", "types"]))
    one = draw(case(depth - 1))
    if kind == "nullable":
        return Case({"anyOf": [one.schema, {"type": "null"}], "default": None}, st.none() | one.values)
    if kind == "allOf":
        return Case({"allOf": [one.schema], "description": "d"}, one.values)
    if kind == "types":
        return Case({"type": ["integer", "string", "null"]}, st.one_of(st.none(), st.integers(-9, 9), texts()))
    two = draw(case(depth - 1))
    return Case({"anyOf": [one.schema, two.schema]}, one.values | two.values)


def case(depth: int) -> st.SearchStrategy[Case]:
    """A schema of at most this depth, with its values."""
    if depth <= 0:
        return _scalar()
    return st.one_of(_scalar(), _array(depth), object_case(depth), _combined(depth))
