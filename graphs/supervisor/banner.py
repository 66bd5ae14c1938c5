"""What a person sees on the terminal when the graph is ready: where it is, and a request to copy."""

import shlex

import msgspec

from graphs.process import Plan

_TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def render(plan: Plan, message: str, *, colour: bool) -> str:
    """The banner, without an end of line; the URL, the model and the request are absent where no frontend runs."""
    lines = ["", _bold(message, colour=colour)]
    if plan.url is not None and plan.model is not None:
        lines += [f"  url    {plan.url}/v1", f"  model  {plan.model}", "", curl(plan.url, plan.model), ""]
    return "\n".join([*lines, "Ctrl-C ends it when the answers in flight are done, a second Ctrl-C at once.", ""])


def curl(url: str, model: str) -> str:
    """A shell command that asks for a tool call."""
    body = {
        "model": model,
        "messages": [{"role": "user", "content": "What is the weather in Paris?"}],
        "tools": [_TOOL],
        "tool_choice": "required",
    }
    data = shlex.quote(msgspec.json.encode(body).decode())
    return f"curl {url}/v1/chat/completions -H 'content-type: application/json' -d {data}"


def _bold(text: str, *, colour: bool) -> str:
    return f"\x1b[1m{text}\x1b[0m" if colour else text
