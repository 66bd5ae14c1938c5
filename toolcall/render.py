"""From a call's arguments to the text in which GLM's chat template writes it."""

import json
from typing import Any

from toolcall import markers as m


def render_call(name: str, arguments: dict[str, Any], *, newlines: bool = False) -> str:
    """Write a call: strings raw, everything else as JSON.

    Args:
        name: The tool's name.
        arguments: The arguments, in the order in which they are written.
        newlines: The layout of GLM-4.5 and 4.6, with a line break between any two parts; else that of 4.7 and later.
    """
    gap = "\n" if newlines else ""
    pairs = "".join(
        f"{m.KEY}{key}{m.KEY_END}{gap}{m.VALUE}{render_value(value)}{m.VALUE_END}{gap}"
        for key, value in arguments.items()
    )
    return f"{m.CALL}{name}{gap}{pairs}{m.CALL_END}"


def render_value(value: Any) -> str:
    """Write one value as the template does: `v if v is string else v | tojson(ensure_ascii=False)`."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
