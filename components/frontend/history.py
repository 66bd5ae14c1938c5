"""An agent's history in the form a chat template reads.

OpenAI's history holds the arguments of a call as a JSON string; GLM's templates iterate over a mapping.
"""

from typing import Any

import msgspec

from components.frontend.errors import RequestError
from components.frontend.request import Json

TEXT_PARTS = frozenset({"text", "input_text", "output_text", "refusal", "tool_reference"})


def template_messages(messages: list[Json]) -> list[Json]:
    """Return the messages with mappings for arguments, text for content and reasoning under ``reasoning_content``.

    Raises:
        RequestError: If there is no message, a part is not text, or a call's arguments are no JSON object.
    """
    if not messages:
        raise RequestError("at least one message is needed", "messages")
    return [_message(message, f"messages[{index}]") for index, message in enumerate(messages)]


def _message(message: Json, path: str) -> Json:
    ready = dict(message)
    ready["content"] = _content(message.get("content"), f"{path}.content")
    reasoning = message.get("reasoning_content") or message.get("reasoning")
    if reasoning is not None:
        ready["reasoning_content"] = _content(reasoning, f"{path}.reasoning_content")
    if calls := message.get("tool_calls"):
        ready["tool_calls"] = [_call(call, f"{path}.tool_calls[{index}]") for index, call in enumerate(calls)]
    return ready


def _content(content: Any, path: str) -> Any:
    if content is None:
        # Templates print a literal None for a null content.
        return ""
    if isinstance(content, str):
        return content
    parts = [_part(part, f"{path}[{index}]") for index, part in enumerate(content)]
    # A tool_reference is expanded by the template itself, so its list stays one.
    return parts if any(isinstance(part, dict) for part in parts) else "".join(parts)


def _part(part: Any, path: str) -> Any:
    if isinstance(part, str):
        return part
    kind = part.get("type")
    if kind not in TEXT_PARTS:
        raise RequestError(f"parts of type {kind!r} are not served: the model reads text", path)
    if kind == "tool_reference":
        return part
    return part.get("text", part.get("refusal", ""))


def _call(call: Json, path: str) -> Json:
    function = call.get("function") or {}
    arguments = _arguments(function.get("arguments"), f"{path}.function.arguments")
    return {**call, "function": {**function, "arguments": arguments}}


def _arguments(arguments: Any, path: str) -> Json:
    if isinstance(arguments, str):
        try:
            arguments = msgspec.json.decode(arguments) if arguments.strip() else {}
        except msgspec.DecodeError as error:
            raise RequestError(f"is not JSON: {error}", path) from error
    if arguments is None:
        return {}
    if not isinstance(arguments, dict):
        raise RequestError("must be a JSON object", path)
    return arguments
