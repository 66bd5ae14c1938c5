"""Agents' conversations as the stand-in model's template and tokenizer make prompts of them, in GLM's format."""

import json
from array import array
from collections.abc import Callable
from typing import Any

import pytest

from components.frontend.history import template_messages
from components.frontend.model import ServedModel
from components.local.model import make_model

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": f"{name.replace('_', ' ')} of the workspace. " * 20,
            "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
        },
    }
    for name in ("read_file", "write_file", "list_files", "search_files")
]
SYSTEM = "You are a careful engineer who works in the user's repository. Read before you write. " * 60


class Conversation:
    """An agent's history over one harness: tools, system prompt, the user's first message."""

    def __init__(self, model: ServedModel, task: str, **variables: Any) -> None:
        self._model = model
        self.variables = variables
        self.messages: list[dict[str, Any]] = [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": task},
        ]

    def call(self, path: str, result: str, reasoning: str | None = None) -> "Conversation":
        """Add an assistant's call of a tool and the tool's result."""
        call_id = f"call-{len(self.messages)}"
        function = {"name": "read_file", "arguments": json.dumps({"path": path})}
        answer: dict[str, Any] = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": call_id, "type": "function", "function": function}],
        }
        if reasoning is not None:
            answer["reasoning_content"] = reasoning
        self.messages += [answer, {"role": "tool", "tool_call_id": call_id, "content": result}]
        return self

    def answer(self, text: str, then: str, reasoning: str | None = None) -> "Conversation":
        """Add an assistant's last word and what the user says next."""
        answer: dict[str, Any] = {"role": "assistant", "content": text}
        if reasoning is not None:
            answer["reasoning_content"] = reasoning
        self.messages += [answer, {"role": "user", "content": then}]
        return self

    def copy(self) -> "Conversation":
        """Return the same history, to go on from in another way."""
        copy = Conversation(self._model, "", **self.variables)
        copy.messages = [dict(message) for message in self.messages]
        return copy

    def prompt(self) -> "array[int]":
        """Return the token ids of the next turn's prompt."""
        text = self._model.template.render(template_messages(self.messages), TOOLS, **self.variables)
        return self._model.prompts.encode(text)


Converse = Callable[..., Conversation]


@pytest.fixture(scope="session")
def converse(tmp_path_factory: pytest.TempPathFactory) -> Converse:
    folder = tmp_path_factory.mktemp("model")
    make_model(folder)
    model = ServedModel(folder, "glm")

    def start(task: str, **variables: Any) -> Conversation:
        return Conversation(model, task, **variables)

    return start
