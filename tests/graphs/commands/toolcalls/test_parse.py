"""`dynamo toolcall parse`."""

from collections.abc import Callable
from typing import Any

import pytest

from graphs import cli
from tests.graphs.commands.toolcalls.conftest import CALL, TOOLS, Run

CASE: dict[str, Any] = {
    "id": "c1",
    "tools": TOOLS,
    "thinking": True,
    "prompt_tail": "<|assistant|><think>",
    "output": f"Hm.</think>Let me see.{CALL}",
    "another": "is passed over",
}


@pytest.mark.parametrize("chunks", ["whole", "chars", "0", "12345"])
def test_a_case_means_the_same_however_it_is_cut(run: Run, chunks: str) -> None:
    assert run(f"parse --chunks {chunks}", CASE) == [
        {
            "id": "c1",
            "reasoning": "Hm.",
            "content": "Let me see.",
            "tool_calls": [{"name": "get_weather", "arguments": '{"city": "Lima"}', "status": "ok"}],
            "finish_reason": "tool_calls",
            "truncated": None,
        }
    ]


def test_a_call_that_is_not_ok_says_why(run: Run) -> None:
    undeclared = CASE | {"output": "</think><tool_call>rm<arg_key>a</arg_key><arg_value>b</arg_value></tool_call>"}

    (answer,) = run("parse", undeclared)

    assert answer["tool_calls"][0]["status"] == "undeclared"
    assert "rm" in answer["tool_calls"][0]["message"]


def test_a_cut_call_is_told(run: Run) -> None:
    (answer,) = run("parse", CASE | {"output": f"</think>{CALL[:40]}", "engine_finish": "length"})

    assert (answer["tool_calls"], answer["finish_reason"]) == ([], "length")
    assert answer["truncated"]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b'{"tools": [{}]}', "line 2: tools[0]"),
        (b"{", "line 2: Input data was truncated"),
        (b'{"output": 3}', "line 2: Expected `str`, got `int` - at `$.output`"),
    ],
)
def test_a_bad_line_is_named(
    feed: Callable[[bytes], None], capsys: pytest.CaptureFixture[str], line: bytes, why: str
) -> None:
    feed(b"\n" + line + b"\n")

    assert cli.run(["toolcall", "parse"]) == 2
    assert capsys.readouterr().err.startswith(f"dynamo: standard input, {why}")


def test_an_unknown_way_to_cut_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["toolcall", "parse", "--chunks", "words"]) == 2
    assert "--chunks words: whole, chars or a whole number" in capsys.readouterr().err
