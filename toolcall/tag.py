"""The structural tag: what a model may write in answer to a request with tools, for xgrammar 0.2.7 and 0.2.8."""

import functools
from typing import Any, Final, Literal

import msgspec

from toolcall import markers as m
from toolcall.call_rules import call_grammar
from toolcall.errors import SchemaError
from toolcall.json_rules import json_grammar
from toolcall.nodes import Never
from toolcall.normalize import normalize
from toolcall.tools import ToolSet
from toolcall.validator import compile_schema

Reasoning = Literal["none", "tag", "engine"]
"""Who sees to the reasoning before the answer: there is `none`; the `tag` admits it up to `</think>`; or the `engine`
applies the tag only behind `</think>`."""

_STATES: Final = 1024
"""Most states that the tools of one request may spend together on the order of their arguments."""

_FEWEST_STATES: Final = 16
_MOST_STATES: Final = 64

_LARGEST: Final = 400_000
"""Characters of the largest grammar that is worth its compilation: some seconds on one core with 150K tokens."""


def build_tag(tools: ToolSet, *, reasoning: Reasoning, content: dict[str, Any] | None = None) -> dict[str, Any] | None:
    """Build the tag of a request.

    Sound: every call in a text that the tag admits is to a tool on offer, and its arguments satisfy its schema but
    for the keywords in `Tool.remainder`. Complete: every valid call is admitted, in the declared order of arguments and
    in those that `toolcall.order` describes, unless a string in it holds `</arg_value>`.

    The last 256 tags are kept. They are shared: do not change what is returned.

    Args:
        tools: The request's tools and choice.
        reasoning: Who sees to the reasoning before the answer.
        content: JSON Schema of an answer that calls nothing (`response_format`); None for free text. Where a call is
            forced it does not apply.

    Returns:
        A structural tag in xgrammar's JSON form; None where nothing is to be held to, as no call is possible.

    Raises:
        SchemaError: The content's schema cannot be used.
    """
    if tools.choice.mode == "none":
        return None
    return _build(_Key(tools, reasoning, content if tools.choice.mode == "auto" else None))


class _Key:
    """A tool set by its bytes, so that equal requests share one tag."""

    def __init__(self, tools: ToolSet, reasoning: Reasoning, content: dict[str, Any] | None) -> None:
        self.tools = tools
        self.reasoning = reasoning
        self.content = content
        self._bytes = (tools.key, reasoning, msgspec.json.encode(content))

    def __hash__(self) -> int:
        return hash(self._bytes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self._bytes == other._bytes


@functools.lru_cache(maxsize=256)
def _build(key: _Key) -> dict[str, Any]:
    tools, choice = key.tools, key.tools.choice
    # One grammar for all tools: what they have in common, above all free text, is compiled once.
    call = {
        "type": "tag",
        "begin": m.CALL,
        "content": {"type": "grammar", "grammar": _grammar(_Key(tools, "none", None))[0]},
        "end": m.CALL_END,
    }
    if choice.mode == "named":
        return _tag(call, key.reasoning)
    calls = {
        "type": "triggered_tags",
        "triggers": [m.CALL],
        "tags": [call],
        # Beside an answer in JSON, text before a call would be neither.
        "at_least_one": choice.mode == "required" or key.content is not None,
        "stop_after_first": not tools.parallel,
        "excludes": [marker for marker in m.ALL if marker != m.CALL],
    }
    if key.content is None:
        return _tag(calls, key.reasoning)
    return _tag({"type": "or", "elements": [_json(key.content), calls]}, key.reasoning)


def is_shallow(tools: ToolSet) -> bool:
    """Whether the tag of these tools is only a shallow one, because a full one would take too long to compile.

    A shallow tag still admits nothing but tools on offer with each declared argument at most once, the required ones
    among them; inside the values it tells strings from JSON and leaves the rest to the check after the call.
    """
    return tools.choice.mode != "none" and _grammar(_Key(tools, "none", None))[1]


@functools.lru_cache(maxsize=256)
def _grammar(key: _Key) -> tuple[str, bool]:
    """The grammar of a call, and whether it is shallow."""
    tools, choice = key.tools, key.tools.choice
    called = [tool for tool in tools.tools if choice.mode != "named" or tool.name == choice.name]
    states = min(_MOST_STATES, max(_FEWEST_STATES, _STATES // len(called)))
    grammar = call_grammar(called, states)
    if len(grammar) <= _LARGEST:
        return grammar, False
    return call_grammar(called, _FEWEST_STATES, shallow=True), True


def _tag(answer: dict[str, Any], reasoning: Reasoning) -> dict[str, Any]:
    if reasoning == "tag":
        thought = {"type": "any_text", "excludes": [marker for marker in m.ALL if marker != m.THINK_END]}
        answer = {
            "type": "sequence",
            "elements": [{"type": "tag", "begin": "", "content": thought, "end": m.THINK_END}, answer],
        }
    return {"type": "structural_tag", "format": answer}


def build_response_tag(schema: dict[str, Any] | None, *, reasoning: Reasoning) -> dict[str, Any]:
    """Build the tag of a request whose `response_format` asks for JSON.

    Args:
        schema: The JSON Schema of `json_schema`; None for `json_object`, which is any object.
        reasoning: Who sees to the reasoning before the answer.

    Raises:
        SchemaError: The schema cannot be used.
    """
    return _tag(_json({"type": "object"} if schema is None else schema), reasoning)


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    path = "response_format.json_schema.schema"
    cleaned, _ = compile_schema(schema, path)
    shape, _ = normalize(cleaned)
    if isinstance(shape.node, Never):
        raise SchemaError(path, "no value satisfies it")
    return {"type": "grammar", "grammar": json_grammar(shape)}
