"""What the frontend pays for a request's tools: reading them and building the tag, for the first time and again.

Cold is cold: every round is a process of its own, `python -m benchmarks.toolcall.build TOOLS`.
"""

import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

import msgspec

from benchmarks.toolcall.markdown import number, table
from tests.conformance.cases import load
from toolcall import build_tag, parse_tools

TITLE: Final = "tool calls: building"
_SIZES: Final = (20, 63, 128)
_ROUNDS: Final = 5
_LONGEST_NAME: Final = 64

Times = dict[int, list[list[float]]]
"""Milliseconds by number of tools, four a round: tools read and tag built, cold, and both again."""


def measure(*, quick: bool) -> tuple[Times, str]:
    """Time tool sets never seen before, and the same ones again."""
    rounds = range(1 if quick else _ROUNDS)
    return {count: [_round(count) for _ in rounds] for count in _SIZES}, ""


def _round(count: int) -> list[float]:
    command = [sys.executable, "-m", "benchmarks.toolcall.build", str(count)]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], stdout=subprocess.PIPE, check=True)
    return msgspec.json.decode(done.stdout, type=list[float])


def _tools(count: int) -> list[dict[str, Any]]:
    """Return the tools of the corpus, from the start again under other names where they do not suffice."""
    cases = load("schemas.jsonl")
    tools = []
    for index in range(count):
        tool = cases[index % len(cases)]["tool"]
        suffix = f"_{index // len(cases)}" if index >= len(cases) else ""
        function = tool.get("function", tool)
        named = {**function, "name": function["name"][: _LONGEST_NAME - len(suffix)] + suffix}
        tools.append({**tool, "function": named} if "function" in tool else named)
    return tools


def _once(tools: list[dict[str, Any]]) -> tuple[float, float]:
    begun = time.thread_time()
    read = parse_tools(tools)
    between = time.thread_time()
    build_tag(read, reasoning="engine")
    return (between - begun) * 1e3, (time.thread_time() - between) * 1e3


def report(times: Times) -> str:
    """Return the table: medians of the rounds."""
    head = ["ms of CPU", "parse_tools, cold", "build_tag, cold", "parse_tools, again", "build_tag, again"]
    return table(
        head,
        (
            [f"{count} tools", *(number(statistics.median(column)) for column in zip(*rounds, strict=True))]
            for count, rounds in times.items()
        ),
    )


if __name__ == "__main__":
    _given = _tools(int(sys.argv[1]))
    print(msgspec.json.encode([*_once(_given), *_once(_given)]).decode())
