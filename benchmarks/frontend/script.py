"""The fixed answers of the scripted worker: an agent's tool calls, and plain text, of about 500 tokens each."""

from typing import Any, Literal

Kind = Literal["calls", "text"]
END = "<|observation|>"
"""The token that ends an answer."""

_REASONING = (
    "The test fails because the cache is not cleared between the runs. I will write the module again with a step that "
    "clears it, and then run the tests of that folder. "
)
_CODE = "".join(f"def step_{index}(value: int) -> int:\n    return value + {index}\n\n\n" for index in range(16))

CALLS = (
    f"{_REASONING}</think>"
    "<tool_call>write_file<arg_key>path</arg_key><arg_value>src/cache/steps.py</arg_value>"
    f"<arg_key>content</arg_key><arg_value>{_CODE}</arg_value>"
    "<arg_key>overwrite</arg_key><arg_value>true</arg_value></tool_call>"
    '<tool_call>run_tests<arg_key>paths</arg_key><arg_value>["tests/cache", "tests/steps"]</arg_value>'
    "<arg_key>timeout_s</arg_key><arg_value>120</arg_value></tool_call>"
)
TEXT = f"{_REASONING}</think>" + "".join(
    f"Step {index} adds {index} to the value and hands it to the next one, which does the same.\n"
    for index in range(24)
)

TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "write_file",
            "description": "Write a text file.",
            "parameters": {
                "type": "object",
                "properties": {
                    "path": {"type": "string"},
                    "content": {"type": "string"},
                    "overwrite": {"type": "boolean"},
                },
                "required": ["path", "content"],
                "additionalProperties": False,
            },
        },
    },
    {
        "type": "function",
        "function": {
            "name": "run_tests",
            "description": "Run the tests under some paths.",
            "parameters": {
                "type": "object",
                "properties": {
                    "paths": {"type": "array", "items": {"type": "string"}},
                    "timeout_s": {"type": "integer"},
                },
                "required": ["paths"],
                "additionalProperties": False,
            },
        },
    },
]
CALL_COUNT = 2


def text_of(kind: Kind) -> str:
    """Return what the model says, behind a prompt that opened ``<think>``."""
    return CALLS if kind == "calls" else TEXT


def outputs(token_ids: list[int], end_id: int, tokens_per_chunk: int) -> list[dict[str, Any]]:
    """Return the answer as a worker's outputs in Dynamo's ``LLMEngineOutput`` form, the end token in the last."""
    ids = [*token_ids, end_id]
    chunks = [ids[start : start + tokens_per_chunk] for start in range(0, len(ids), tokens_per_chunk)]
    return [{"token_ids": chunk} for chunk in chunks[:-1]] + [{"token_ids": chunks[-1], "finish_reason": "stop"}]
