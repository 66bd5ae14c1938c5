"""The suite over another parser, in a process of its own."""

import subprocess
import sys
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from components.peers import NAMES
from components.peers.protocol import ProtocolError, line, read_answers
from graphs.commands.toolcalls.conformance.results import Parser, result
from graphs.errors import Refusal
from graphs.nearest import did_you_mean
from toolcall.conformance import Case

_LIMIT_S: Final = 600
_LAST_LINES: Final = 3


def check_names(names: Sequence[str]) -> None:
    """Refuse a parser that is not one of those known.

    Raises:
        Refusal: One is unknown.
    """
    for name in names:
        if name not in NAMES:
            raise Refusal(f"--against {name}: no parser of that name is known here; {did_you_mean(name, NAMES)}")


def ask(name: str, cases: Sequence[Case]) -> Parser:
    """Have another parser read every case.

    Raises:
        Refusal: It is not installed, or its process failed.
    """
    asked = b"".join(line(_in_chat_form(case)) for case in cases)
    command = [sys.executable, "-m", "components.peers", name]
    try:
        done = subprocess.run(  # noqa: S603 - the command is this project's own, and the name one of those known.
            command, input=asked, capture_output=True, timeout=_LIMIT_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise Refusal(f"--against {name}: no answers within {_LIMIT_S} s") from error
    if done.returncode:
        raise Refusal(f"--against {name}: {_last_words(done.stderr) or f'ended with code {done.returncode}'}")
    try:
        peer, answers = read_answers(done.stdout, cases)
    except ProtocolError as error:
        raise Refusal(f"--against {name}: {error}") from error
    judged = (result(case, *pair) for case, pair in zip(cases, answers, strict=True))
    return Parser(peer.name, peer.version, tuple(judged))


def _in_chat_form(case: Case) -> Case:
    """Return the case with tools and choice nested, as a serving layer makes them of the Responses API's flat form."""
    tools = None if case.tools is None else [_nested(tool) for tool in case.tools]
    choice = _nested(case.tool_choice) if isinstance(case.tool_choice, dict) else case.tool_choice
    return msgspec.structs.replace(case, tools=tools, tool_choice=choice)


def _nested(given: dict[str, Any]) -> dict[str, Any]:
    if given.get("type") != "function" or "function" in given:
        return given
    return {"type": "function", "function": {name: value for name, value in given.items() if name != "type"}}


def _last_words(said: bytes) -> str:
    lines = said.decode(errors="replace").strip().split("\n")[-_LAST_LINES:]
    return " / ".join(each.removeprefix("components.peers: ").strip() for each in lines)
