"""A small suite of right cases."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

# Whole, before the command imports it lean: other tests of this process use its torch half.
import xgrammar  # noqa: F401 - imported for the order

from tests.graphs.commands.toolcalls.conftest import CALL, TOOLS

CASE: dict[str, Any] = {
    "id": "call-1",
    "kind": "basic_call",
    "tools": TOOLS,
    "output": f"Let me\u2028see.{CALL}",
    "expect": {
        "content": "Let me\u2028see.",
        "tool_calls": [{"name": "get_weather", "arguments": {"city": "Lima"}, "status": "ok"}],
        "finish_reason": "tool_calls",
    },
}
CUT: dict[str, Any] = {
    "id": "cut-1",
    "kind": "truncation",
    "tools": TOOLS,
    "output": CALL[:40],
    "engine_finish": "length",
    "expect": {"content": None, "tool_calls": [], "finish_reason": "length"},
}
TAG: dict[str, Any] = {"id": "tag-1", "kind": "undeclared", "tools": TOOLS, "text": CALL, "accepted": True}
# No grammar tells repeated items from others.
LIST: dict[str, Any] = {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}
REPEATING: dict[str, Any] = {"n": 1, "l": [5, 5]}
SCHEMA: dict[str, Any] = {
    "id": "s-1",
    "tool": {
        "type": "function",
        "function": {
            "name": "f",
            "parameters": {
                "type": "object",
                "properties": {"n": {"type": "integer"}, "s": {"type": "string"}, "l": LIST},
                "required": ["n"],
            },
        },
    },
    "valid": [{"n": 1}, {"n": 2, "s": "abc", "l": [1, 2]}],
    "invalid": [{"n": "x"}, REPEATING, {"n": 1, "s": 3}],
    "wire_ambiguous": [2],
}

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write files of cases, named by keyword, and return their folder."""

    def files(**named: list[dict[str, Any]]) -> Path:
        for name, cases in named.items():
            lines = "".join(json.dumps(case, ensure_ascii=False) + "\n" for case in cases)
            (tmp_path / f"{name}.jsonl").write_text(lines, "utf-8")
        return tmp_path

    return files
