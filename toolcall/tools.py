"""From a request's `tools`, `tool_choice` and `parallel_tool_calls` to a `ToolSet`."""

import functools
import json
from typing import Any, Final, Literal

import jsonschema_rs
import msgspec

from toolcall import markers
from toolcall import nodes as n
from toolcall.errors import SchemaError, json_path
from toolcall.normalize import Unenforced, normalize
from toolcall.validator import compile_schema
from toolcall.values import Argument, arguments_of

_MOST_ALTERNATIVES: Final = 32
"""Most forms of arguments (`anyOf` of the parameters themselves) that one tool may have."""


class Tool(msgspec.Struct, frozen=True):
    """One function that the model may call.

    Attributes:
        name: The function's name.
        description: What the client says it does.
        parameters: The client's JSON Schema of the arguments object, as validated against.
        strict: The client's `strict`; arguments are held to the schema either way.
        shape: `parameters` in normal form.
        forms: The arguments object's alternatives; more than one only when `parameters` is itself a union.
        remainder: What the tag leaves to the check after the call.
        validator: The check after the call.
        arguments: For each form, how the value of each declared key is read.
    """

    name: str
    description: str
    parameters: dict[str, Any]
    strict: bool | None
    shape: n.Shape
    forms: tuple[n.Object, ...]
    remainder: tuple[Unenforced, ...]
    validator: jsonschema_rs.Draft7Validator
    arguments: tuple[dict[str, Argument], ...]


class ToolChoice(msgspec.Struct, frozen=True):
    """Whether the model may, must or must not call, and for `named` which tool."""

    mode: Literal["auto", "required", "named", "none"]
    name: str | None = None


class ToolSet(msgspec.Struct, frozen=True):
    """The tools of one request and how they may be called.

    Attributes:
        tools: The tools on offer, in the client's order.
        choice: The client's tool choice.
        parallel: Whether one answer may hold several calls.
        key: Bytes equal for two requests exactly when their tags are equal.
        index: The tools by name.
    """

    tools: tuple[Tool, ...]
    choice: ToolChoice
    parallel: bool
    key: bytes
    index: dict[str, Tool]

    def by_name(self, name: str) -> Tool | None:
        """The tool of exactly this name."""
        return self.index.get(name)


def parse_tools(
    tools: list[dict[str, Any]] | None,
    tool_choice: str | dict[str, Any] | None = None,
    parallel_tool_calls: bool | None = None,
) -> ToolSet:
    """Read the tools of a request in Chat Completions or Responses form.

    Each tool is read once and kept (the last 1,024 of them), because agents send the same tools with every turn.

    Args:
        tools: The request's `tools`.
        tool_choice: The request's `tool_choice`; `auto` when absent and there are tools, else `none`.
        parallel_tool_calls: The request's own; true when absent.

    Raises:
        SchemaError: A tool or the choice cannot be served.
    """
    parsed: dict[str, Tool] = {}
    keys: list[bytes] = []
    for index, tool in enumerate(tools or ()):
        path = json_path("tools", index)
        encoded = _encode(tool, path)
        try:
            read = _read_tool(encoded)
        except SchemaError as error:
            raise SchemaError(json_path(path) + error.path, error.problem) from None
        known = parsed.get(read.name)
        if known is not None and known is not read:
            raise SchemaError(path, f"another tool is already called {read.name!r}: give each its own name")
        parsed[read.name] = read
        keys.append(encoded)
    choice, allowed = _read_choice(tool_choice, parsed)
    offered = tuple(tool for tool in parsed.values() if allowed is None or tool.name in allowed)
    parallel = parallel_tool_calls is not False
    key = msgspec.json.encode([sorted(tool.name for tool in offered), choice, parallel]) + b"".join(keys)
    return ToolSet(offered, choice, parallel, key, {tool.name: tool for tool in offered})


def _encode(tool: Any, path: str) -> bytes:
    try:
        return msgspec.json.encode(tool)
    except (TypeError, ValueError, RecursionError) as error:
        raise SchemaError(path, f"not plain JSON: {error}") from None


@functools.lru_cache(maxsize=1024)
def _read_tool(encoded: bytes) -> Tool:
    """One tool from its JSON; paths of errors start at the tool."""
    tool = json.loads(encoded)
    if not isinstance(tool, dict) or tool.get("type", "function") != "function":
        raise SchemaError(".type", "only tools of type 'function' can be served")
    base = ".function" if "function" in tool else ""
    function = tool["function"] if base else tool
    if not isinstance(function, dict):
        raise SchemaError(base, "must be an object with a name and parameters")
    name = function.get("name")
    if not isinstance(name, str) or not name or any(c in "<>" or c.isspace() or not c.isprintable() for c in name):
        raise SchemaError(base + ".name", "must be a name without spaces or angle brackets")
    path = base + ".parameters"
    given = function.get("parameters")
    if given is None:
        given = {"type": "object", "properties": {}, "additionalProperties": False}
    if not isinstance(given, dict):
        raise SchemaError(path, "must be a JSON Schema object")
    parameters, validator = compile_schema(given, path)
    shape, remainder = normalize(parameters)
    forms = _forms(shape, parameters, path)
    return Tool(
        name=name,
        description=function.get("description") or "",
        parameters=parameters,
        strict=function.get("strict", tool.get("strict")),
        shape=shape,
        forms=forms,
        remainder=remainder,
        validator=validator,
        arguments=tuple(arguments_of(form, shape, parameters) for form in forms),
    )


def _forms(shape: n.Shape, schema: dict[str, Any], path: str) -> tuple[n.Object, ...]:
    """The arguments object's alternatives, less what GLM's form cannot write."""
    forms: list[n.Object] = []
    for option in shape.options(shape.node):
        if isinstance(option, n.AnyValue):
            forms.append(n.Object(extra=(n.Members(n.ANY),), implicit=True))
        elif isinstance(option, n.Object):
            unwritable = [known for known in option.properties if not writable_key(known.name)]
            if any(known.required for known in unwritable):
                raise SchemaError(json_path(path, "properties", unwritable[0].name), "a key cannot hold GLM's markup")
            kept = tuple(known for known in option.properties if known not in unwritable)
            forms.append(n.Object(kept, option.extra, option.implicit, option.listed))
    if not forms:
        raise _unsatisfiable(schema, path)
    if len(forms) > _MOST_ALTERNATIVES:
        raise SchemaError(path, f"more than {_MOST_ALTERNATIVES} alternative forms of arguments")
    return tuple(forms)


def _unsatisfiable(schema: dict[str, Any], path: str) -> SchemaError:
    """Say of arguments that cannot be which required one is to blame, if it is one alone."""
    properties = schema.get("properties") or {}
    for name in schema.get("required") or ():
        alone = {**schema, "properties": {name: properties.get(name, {})}, "required": [name]}
        if name in properties and isinstance(normalize(alone)[0].node, n.Never):
            return SchemaError(json_path(path, "properties", name), "no value satisfies it, and it is required")
    return SchemaError(path, "no object satisfies it: arguments are always an object")


def writable_key(name: str) -> bool:
    """Whether a key comes back as it went in: not empty, no markup, no space at its ends."""
    return bool(name) and name == name.strip() and not any(marker in name for marker in markers.ALL) and "<" not in name


def _read_choice(
    choice: str | dict[str, Any] | None, tools: dict[str, Tool]
) -> tuple[ToolChoice, frozenset[str] | None]:
    """The choice, and the names it narrows the tools to, if it does."""
    if choice is None:
        return ToolChoice("auto" if tools else "none"), None
    allowed = None
    if isinstance(choice, dict) and choice.get("type") == "allowed_tools":
        inner = choice.get("allowed_tools", choice)
        allowed = _allowed(inner, tools)
        choice = inner.get("mode", "auto") if isinstance(inner, dict) else None
    if isinstance(choice, dict):
        holder = choice.get("function", choice)
        name = holder.get("name") if isinstance(holder, dict) else None
        if not isinstance(name, str) or choice.get("type", "function") != "function":
            raise SchemaError("tool_choice", 'must be "auto", "required", "none" or name a function')
        if name not in tools:
            raise SchemaError("tool_choice", f"names {name!r}, which is not among the tools")
        return ToolChoice("named", name), None
    if choice == "required":
        if not tools:
            raise SchemaError("tool_choice", "is required, but there are no tools")
        return ToolChoice("required"), allowed
    if choice not in ("auto", "none"):
        raise SchemaError("tool_choice", 'must be "auto", "required", "none" or name a function')
    return ToolChoice("auto" if choice == "auto" and tools else "none"), allowed


def _allowed(inner: Any, tools: dict[str, Tool]) -> frozenset[str]:
    listed = inner.get("tools") if isinstance(inner, dict) else None
    names = [entry.get("function", entry).get("name") for entry in listed or () if isinstance(entry, dict)]
    for name in names:
        if name not in tools:
            raise SchemaError("tool_choice", f"allows {name!r}, which is not among the tools")
    if not names:
        raise SchemaError("tool_choice", "allowed_tools must list at least one tool")
    return frozenset(names)
