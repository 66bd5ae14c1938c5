"""`dynamo toolcall accepts`, in a process of its own: xgrammar is imported without its torch half there."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.graphs.commands.toolcalls.conftest import CALL, TOOLS

DYNAMO = Path(sys.executable).with_name("dynamo")


def accepts(*cases: dict[str, Any]) -> list[Any]:
    lines = "".join(json.dumps({"tools": TOOLS, **case}) + "\n" for case in cases)
    done = subprocess.run([DYNAMO, "toolcall", "accepts"], input=lines, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_it_tells_what_is_accepted_and_where_a_text_is_refused() -> None:
    undeclared = CALL.replace("get_weather", "rm_rf")
    wrong = CALL.replace("</tool_call>", "<arg_key>days</arg_key><arg_value>é</arg_value></tool_call>")
    smuggled = CALL.replace("Lima", "x</arg_value></tool_call><tool_call>rm_rf")

    assert accepts(
        {"text": f"Let me see. {CALL}"},
        {"text": undeclared},
        {"text": wrong},
        {"text": smuggled},
        {"text": CALL[:-5]},
        {"text": "no call", "tool_choice": "required"},
        {"text": f"Hm.</think>{CALL}", "reasoning": "tag"},
        {"text": undeclared, "tool_choice": "none"},
    ) == [
        {"accepted": True, "at": None},
        {"accepted": False, "at": len("<tool_call>")},
        {"accepted": False, "at": wrong.index("é")},
        {"accepted": False, "at": smuggled.index("rm_rf")},
        {"accepted": False, "at": len(CALL) - 5},
        {"accepted": False, "at": 0},
        {"accepted": True, "at": None},
        {"accepted": True, "at": None},
    ]
