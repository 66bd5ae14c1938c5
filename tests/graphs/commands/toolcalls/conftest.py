"""Running a command on lines of JSON."""

import io
import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from graphs import cli

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
                "required": ["city"],
            },
        },
    }
]
CALL = "<tool_call>get_weather<arg_key>city</arg_key><arg_value>Lima</arg_value></tool_call>"

Run = Callable[..., list[Any]]


@pytest.fixture
def feed(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    """Put bytes on standard input."""
    return lambda data: monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(data)))


@pytest.fixture
def run(feed: Callable[[bytes], None], capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    def with_lines(words: str, *cases: dict[str, Any]) -> list[Any]:
        feed(b"".join(json.dumps(case).encode() + b"\n" for case in cases))
        assert cli.run(["toolcall", *words.split()]) == 0
        return [json.loads(line) for line in capfdbinary.readouterr().out.splitlines()]

    return with_lines
