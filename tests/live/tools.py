"""Twenty tools as coding agents have them, and the check that a call fits its tool."""

import json
from collections.abc import Iterable
from pathlib import Path

from jsonschema import Draft7Validator, ValidationError

from tests.live.chat import Answer, Json


def _read(name: str) -> dict[str, Json]:
    lines = Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines()
    return {function["name"]: {"type": "function", "function": function} for function in map(json.loads, lines)}


TOOLS = _read("tools.jsonl")
"""Tools in Chat Completions form, by name, whose schemas every call fits."""

HARD_TOOLS = _read("hard_tools.jsonl")
"""Tools that use keywords which `toolcall` leaves to the check after the call, as `Tool.remainder` says."""


def schema_of(tool: Json) -> Json:
    """The schema of a tool's arguments."""
    schema: Json = tool["function"].get("parameters", {})
    return schema


def named(name: str) -> Json:
    """The `tool_choice` that names a tool."""
    return {"type": "function", "function": {"name": name}}


def problems(name: str, arguments: str, tools: Iterable[Json]) -> list[str]:
    """What is wrong with a call, judged as a client's own validator does: Draft 7, `format` not asserted."""
    return [f"{name}({arguments}): {error.message}" for error in errors_of(name, arguments, tools)]


def errors_of(name: str, arguments: str, tools: Iterable[Json]) -> list[ValidationError]:
    """The errors behind `problems`."""
    schemas = {tool["function"]["name"]: schema_of(tool) for tool in tools}
    assert name in schemas, f"{name} is not among the tools"
    return list(Draft7Validator(schemas[name]).iter_errors(json.loads(arguments)))


def assert_calls(answer: Answer, tools: Iterable[Json]) -> None:
    """See that an answer calls, and that every call is valid and has an id of its own."""
    offered = list(tools)
    assert answer.calls, answer
    assert answer.finish_reason == "tool_calls", answer
    wrong = [problem for name, arguments in answer.calls for problem in problems(name, arguments, offered)]
    assert not wrong, wrong
    assert len(set(answer.call_ids)) == len(answer.call_ids) == len(answer.calls), answer.call_ids
