"""What the request lets the model say, as Dynamo's ``guided_decoding``."""

from typing import Any, Literal

from components.frontend.errors import RequestError
from components.frontend.request import ChatRequest, Json
from toolcall import ToolSet, build_response_tag, build_tag

ReasoningGate = Literal["tag", "engine"]
"""Who lets reasoning pass: the tag itself, or an engine that starts a grammar only after ``</think>`` (vLLM does)."""


def guided_decoding(request: ChatRequest, tools: ToolSet, *, reasoning: bool, gate: ReasoningGate) -> Json | None:
    """Return the constraint, or None where every text is welcome.

    A response format binds the answers that call no tool.

    Args:
        request: The client's request.
        tools: Its tools, read by ``toolcall.parse_tools``.
        reasoning: Whether the prompt opened ``<think>``, so that the output starts inside reasoning.
        gate: Who lets reasoning pass.

    Raises:
        RequestError: If the response format is malformed.
        SchemaError: If a tool's schema or the response schema cannot be used.
    """
    how: Literal["none", "tag", "engine"] = gate if reasoning else "none"
    content = _response_schema(request)
    if (tag := build_tag(tools, reasoning=how, content=content)) is not None:
        return {"structural_tag": tag}
    if content is not None:
        return {"structural_tag": build_response_tag(content, reasoning=how)}
    return _guided(request, how)


def _response_schema(request: ChatRequest) -> Json | None:
    """Return the schema that the answer must fit, None where it is free."""
    if request.guided_json is not None:
        return _object(request.guided_json, "guided_json")
    form = request.response_format or {}
    match form.get("type", "text"):
        case "text":
            return None
        case "json_object":
            return {"type": "object"}
        case "json_schema":
            return _object((form.get("json_schema") or {}).get("schema"), "response_format.json_schema.schema")
        case other:
            raise RequestError(f"{other!r} is not one of text, json_object, json_schema", "response_format.type")


def _object(schema: Any, path: str) -> Json:
    if not isinstance(schema, dict):
        raise RequestError("a schema object is needed", path)
    return schema


def _guided(request: ChatRequest, reasoning: Literal["none", "tag", "engine"]) -> Json | None:
    asked = {"regex": request.guided_regex, "choice": request.guided_choice, "grammar": request.guided_grammar}
    guided = {name: value for name, value in asked.items() if value is not None}
    if len(guided) > 1:
        raise RequestError(f"only one of {', '.join(guided)} can be enforced", f"guided_{next(iter(guided))}")
    if guided and reasoning == "tag":
        name = f"guided_{next(iter(guided))}"
        raise RequestError(
            "would forbid the reasoning this prompt opens: set chat_template_kwargs.enable_thinking false", name
        )
    return guided or None
