"""BFCL's function definitions as OpenAI tools, and its answers as argument objects.

Only the data of the package `bfcl-eval` is read; its code needs a vendor's client or two. The conversions are those of
that code: `model_handler/utils.py` for definitions, `eval_checker/ast_eval` for answers, `utils.py` for multi-turn.
"""

import ast
import functools
import importlib.util
import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from jsonschema import Draft7Validator

SINGLE_TURN: Final = (
    "simple_python", "simple_java", "simple_javascript", "multiple", "parallel", "parallel_multiple", "live_simple",
    "live_multiple", "live_parallel", "live_parallel_multiple",
)  # fmt: skip
"""Categories whose answers list the permissible values of each parameter."""

MULTI_TURN: Final = ("multi_turn_base", "multi_turn_miss_func", "multi_turn_miss_param", "multi_turn_long_context")
"""Categories whose answers are Python calls, a list for each turn."""

_UNANSWERED: Final = ("irrelevance", "live_irrelevance", "live_relevance")
_UNUSED: Final = ("exec_simple", "exec_multiple", "exec_parallel", "exec_parallel_multiple", "rest", "sql")

_JSON_TYPES: Final = {
    "integer": "integer", "byte": "integer", "short": "integer", "long": "integer", "Bigint": "integer",
    "number": "number", "float": "number", "double": "number",
    "string": "string", "String": "string", "char": "string",
    "boolean": "boolean", "bool": "boolean", "Boolean": "boolean",
    "array": "array", "list": "array", "tuple": "array", "Array": "array", "ArrayList": "array", "Queue": "array",
    "Stack": "array",
    "dict": "object", "object": "object", "HashMap": "object", "Hashtable": "object",
}  # fmt: skip
"""Python's, Java's and JavaScript's types; BFCL's own table but for `any`, which it declares a string."""

_UNTYPED: Final = frozenset({"any", "Any", ""})

_API_FILES: Final = {
    "GorillaFileSystem": "gorilla_file_system", "MathAPI": "math_api", "MessageAPI": "message_api",
    "TicketAPI": "ticket_api", "TradingBot": "trading_bot", "TravelAPI": "travel_booking", "TwitterAPI": "posting_api",
    "VehicleControlAPI": "vehicle_control",
}  # fmt: skip
"""Where the functions of a multi-turn entry's `involved_classes` are defined."""

_ABSENT: Final = object()
"""Stands for a parameter that is left out."""


@dataclass(frozen=True)
class Answer:
    """A right call: argument objects in which every permissible value of every parameter occurs."""

    name: str
    objects: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class Entry:
    """A request's tools and the calls that answer it; no calls where BFCL names none."""

    id: str
    tools: list[dict[str, Any]]
    answers: tuple[Answer, ...] = ()


@functools.cache
def answered(category: str) -> tuple[Entry, ...]:
    """The entries of a category of `SINGLE_TURN` or `MULTI_TURN`."""
    truths = {line["id"]: line["ground_truth"] for line in _lines(f"possible_answer/BFCL_v4_{category}.json")}
    read = _multi_turn if category in MULTI_TURN else _single_turn
    return tuple(read(line, truths[line["id"]]) for line in _lines(f"BFCL_v4_{category}.json"))


def unanswered() -> Iterator[Entry]:
    """Every other entry with function definitions, and each file of the multi-turn functions as one entry."""
    names = [f"BFCL_v4_{category}.json" for category in _UNANSWERED]
    names += [f"unused_datasets/question/BFCL_v4_{category}.json" for category in _UNUSED]
    for name in names:
        for line in _lines(name):
            defined = line["function"]
            yield Entry(line["id"], list(map(tool, defined if isinstance(defined, list) else [defined])))
    for path in sorted((_data() / "multi_turn_func_doc").glob("*.json")):
        yield Entry(path.stem, _api(path.stem))


def tool(definition: dict[str, Any]) -> dict[str, Any]:
    """A function definition as a tool of a Chat Completions request."""
    function = {
        "name": tool_name(definition["name"]),
        "description": definition["description"],
        "parameters": schema(definition["parameters"]),
    }
    return {"type": "function", "function": function}


def tool_name(name: str) -> str:
    """OpenAI's names have no dots."""
    return name.replace(".", "_")


def schema(definition: dict[str, Any]) -> dict[str, Any]:
    """A definition's types as JSON Schema; every other keyword stays as it is."""
    converted = dict(definition)
    declared = converted.pop("type", "")
    if declared not in _UNTYPED:
        converted["type"] = _JSON_TYPES[declared]
    if "properties" in converted:
        converted["properties"] = {key: schema(value) for key, value in converted["properties"].items()}
    for keyword in ("items", "additionalProperties"):
        if isinstance(converted.get(keyword), dict):
            converted[keyword] = schema(converted[keyword])
    return converted


def judge(parameters: dict[str, Any]) -> Draft7Validator:
    """What says whether arguments are valid: Draft 7 with formats asserted, as OpenRouter judges calls."""
    return Draft7Validator(parameters, format_checker=Draft7Validator.FORMAT_CHECKER)


def _data() -> Path:
    spec = importlib.util.find_spec("bfcl_eval")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("bfcl-eval is missing: pip install --no-deps bfcl-eval==2026.3.23")
    return Path(spec.submodule_search_locations[0]) / "data"


def _lines(name: str) -> list[Any]:
    return [json.loads(line) for line in (_data() / name).read_text("utf-8").split("\n") if line]


def _single_turn(line: dict[str, Any], truth: list[dict[str, Any]]) -> Entry:
    parameters = {each["name"]: schema(each["parameters"]) for each in line["function"]}
    answers = [
        Answer(tool_name(name), tuple(_objects(permissible, parameters[name])))
        for call in truth
        for name, permissible in call.items()
    ]
    return Entry(line["id"], list(map(tool, line["function"])), tuple(answers))


def _objects(permissible: dict[str, Any], declared: dict[str, Any]) -> list[dict[str, Any]]:
    """Objects in which every permissible value occurs, no more of them than that takes.

    A value that breaks its own schema gets an object to itself, so that it spoils no other. The value `""` means that a
    parameter may be left out; of a required one it is the empty string.
    """
    properties, required = declared.get("properties", {}), declared.get("required", ())
    right, wrong = {}, []
    for key, listed in permissible.items():
        known = properties.get(key, {})
        values = [each for value in _listed(listed) for each in _values(value, known)]
        values = [_ABSENT if value == "" and key not in required else value for value in values]
        valid = [value is _ABSENT or judge(known).is_valid(value) for value in values]
        right[key] = list(itertools.compress(values, valid)) or values[:1]
        wrong += [{key: [value]} for value, fits in zip(values, valid, strict=True) if not fits]
    return [_pick(right, index) for index in range(_most(right))] + [_pick(right | other, 0) for other in wrong]


def _listed(permissible: Any) -> list[Any]:
    # A few answers give a value bare: a string in a Java map, an empty array.
    return permissible if isinstance(permissible, list) and permissible else [permissible]


def _values(value: Any, declared: dict[str, Any]) -> list[Any]:
    """The values that one listed value stands for: objects, also in an array, list permissible values in turn."""
    if isinstance(value, dict):
        return _objects(value, declared)
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        items = {str(at): _values(item, declared.get("items", {})) for at, item in enumerate(value)}
        return [list(_pick(items, index).values()) for index in range(_most(items))]
    return [value]


def _most(choices: dict[str, list[Any]]) -> int:
    return max(map(len, choices.values()), default=1)


def _pick(choices: dict[str, list[Any]], index: int) -> dict[str, Any]:
    """Of each choice the value at this index, in turn."""
    picked = {key: values[index % len(values)] for key, values in choices.items()}
    return {key: value for key, value in picked.items() if value is not _ABSENT}


def _multi_turn(line: dict[str, Any], truth: list[list[str]]) -> Entry:
    tools = [each for api in line["involved_classes"] for each in _api(_API_FILES[api])]
    orders = {each["function"]["name"]: list(each["function"]["parameters"]["properties"]) for each in tools}
    return Entry(line["id"], tools, tuple(_python_call(call, orders) for turn in truth for call in turn))


@functools.cache
def _api(stem: str) -> list[dict[str, Any]]:
    return [tool(definition) for definition in _lines(f"multi_turn_func_doc/{stem}.json")]


def _python_call(source: str, orders: dict[str, list[str]]) -> Answer:
    call = ast.parse(source.strip(), mode="eval").body
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise TypeError(f"not a call: {source}")
    arguments = dict(zip(orders[call.func.id], map(ast.literal_eval, call.args), strict=False))
    arguments |= {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
    return Answer(call.func.id, (arguments,))
