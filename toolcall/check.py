"""The check after the call: arguments against the client's own schema."""

from typing import Any

from toolcall.tools import ToolSet
from toolcall.validator import Problem, problems


def validate(tools: ToolSet, name: str, arguments: Any) -> list[Problem]:
    """Check the arguments of a call.

    Args:
        tools: The request's tools.
        name: The tool called.
        arguments: The arguments as `json.loads` gives them.

    Returns:
        Every failure, with its JSON path; empty when the arguments are valid under JSON Schema Draft 7. A tool that was
        not offered is one failure, with an empty path.
    """
    tool = tools.by_name(name)
    if tool is None:
        return [Problem("", f"no tool {name!r} was offered")]
    return problems(tool.validator, arguments)
