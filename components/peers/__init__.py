"""Other parsers of GLM's tool calls, each in a process of its own: `python -m components.peers NAME`."""

from typing import Final

NAMES: Final = ("dynamo", "dynamo-v2", "vllm", "sglang")
