import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from graphs.commands.toolcalls.conformance import peers
from graphs.errors import Refusal
from tests.graphs.commands.toolcalls.conformance.conftest import CASE, CUT
from tests.graphs.commands.toolcalls.conftest import CALL, TOOLS
from toolcall.conformance import Case

CASES = [msgspec.convert(case, Case) for case in (CASE, CUT)]


def test_another_parser_answers_from_a_process_of_its_own() -> None:
    parser = peers.ask("dynamo", CASES)

    assert (parser.name, parser.version) == ("dynamo", "1.6.1")
    assert [result.id for result in parser.results] == ["call-1", "cut-1"]
    assert parser.score().right == (2, 2)


def test_tools_in_the_responses_api_s_form_are_asked_for_in_the_chat_api_s() -> None:
    functions: list[Any] = [tool["function"] for tool in TOOLS]
    flat = [{"type": "function", **function} for function in functions]
    choice = {"type": "function", "name": "get_weather"}
    case = msgspec.convert(CASE | {"tools": flat, "tool_choice": choice, "output": CALL, "expect": {}}, Case)

    (result,) = peers.ask("dynamo", [case]).results

    assert result.whole.error is None
    assert result.whole.reading is not None
    assert [call.name for call in result.whole.reading.tool_calls] == ["get_weather"]


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    peers.check_names(["vllm", "dynamo-v2"])
    with pytest.raises(Refusal, match=r"--against dynamo_v1: .* did you mean 'dynamo-v2'"):
        peers.check_names(["dynamo_v1"])


def failing(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> str:
    """The refusal when the parser's process is this script."""
    program = folder / "python"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(program))
    with pytest.raises(Refusal) as refusal:
        peers.ask("vllm", CASES)
    return str(refusal.value)


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("echo components.peers: vllm is not installed >&2; exit 2", "--against vllm: vllm is not installed"),
        ("kill -9 $$", "--against vllm: ended with code -9"),
        ("cat >/dev/null; echo loading", "--against vllm: JSON is malformed"),
        ("""cat >/dev/null; echo '{"name": "vllm", "version": "1"}'""", "--against vllm: 0 answers to 4 questions"),
    ],
)
def test_a_process_that_fails_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, why: str
) -> None:
    assert failing(tmp_path, monkeypatch, script).startswith(why)
