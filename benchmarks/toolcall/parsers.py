"""Characters a second of our parser beside vLLM's and SGLang's, in alternating rounds over the same streams."""

import importlib.util
import statistics
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from benchmarks.toolcall.markdown import number, table
from benchmarks.toolcall.readers import OURS, Mode, Question, Ready, Timed
from benchmarks.toolcall.streams import STREAMS

TITLE: Final = "tool calls: parsers"
_LABELS: Final = {OURS: "ours", "vllm": "vLLM", "sglang": "SGLang"}
_MODES: Final[Mapping[Mode, str]] = {"streamed": "4 characters a chunk", "whole": "whole"}
_ROUNDS: Final = 5
_LEAVE_S: Final = 10

Speeds = dict[str, dict[str, list[float]]]
"""Characters a second: by question, by parser, one a round."""


class ParserError(RuntimeError):
    """A parser's process ended early."""


@dataclass(frozen=True)
class _Parser:
    name: str
    process: subprocess.Popen[bytes]

    def hear(self) -> bytes:
        assert self.process.stdout is not None  # noqa: S101 - started with a pipe
        line = self.process.stdout.readline()
        if not line:
            command = f"python -m benchmarks.toolcall.readers {self.name}"
            raise ParserError(f"the parser {self.name} ended early; `{command}` shows why")
        return line

    def time(self, question: Question) -> float:
        """Return the CPU seconds of one reading."""
        assert self.process.stdin is not None  # noqa: S101 - started with a pipe
        self.process.stdin.write(msgspec.json.encode(question) + b"\n")
        self.process.stdin.flush()
        return msgspec.json.decode(self.hear(), type=Timed).seconds


def measure(*, quick: bool) -> tuple[Speeds, str]:
    """Time every parser that is installed.

    Returns:
        The speeds, and which parsers stood beside ours, in a line.

    Raises:
        ParserError: A parser's process ended early.
    """
    missing = [name for name in _LABELS if name != OURS and not _is_installed(name)]
    with ExitStack() as running:
        parsers = [_start(running, name) for name in _LABELS if name not in missing]
        versions = [msgspec.json.decode(parser.hear(), type=Ready).version for parser in parsers]
        speeds: Speeds = {f"{mode}/{stream}": {} for mode in _MODES for stream in STREAMS}
        for index in range(1 if quick else _ROUNDS):
            # Every other round the other way about, so that none is always measured behind the same one.
            for parser in parsers if index % 2 == 0 else reversed(parsers):
                _round(parser, speeds)
    beside = [f"{_LABELS[parser.name]} {version}" for parser, version in zip(parsers, versions, strict=True) if version]
    left_out = [f"{_LABELS[name]} is not installed and left out" for name in missing]
    return speeds, "; ".join([", ".join(beside), *left_out] if beside else left_out)


def _round(parser: _Parser, speeds: Speeds) -> None:
    for mode in _MODES:
        for stream, case in STREAMS.items():
            speed = len(case.output) / parser.time(Question(stream, mode))
            speeds[f"{mode}/{stream}"].setdefault(parser.name, []).append(speed)


def _is_installed(name: str) -> bool:
    found = importlib.util.find_spec(name)
    return found is not None and found.origin is not None


def _start(running: ExitStack, name: str) -> _Parser:
    process = running.enter_context(
        subprocess.Popen(
            [sys.executable, "-m", "benchmarks.toolcall.readers", name],
            cwd=Path(__file__).parents[2],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    )
    # It leaves once its questions end; one that does not is ended.
    running.callback(_stop, process)
    return _Parser(name, process)


def _stop(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None  # noqa: S101 - started with a pipe
    process.stdin.close()
    try:
        process.wait(_LEAVE_S)
    except subprocess.TimeoutExpired:
        process.kill()


def report(speeds: Speeds) -> str:
    """Return a table for each way of feeding: millions of characters a second, medians of the rounds."""
    names = [name for name in _LABELS if name in next(iter(speeds.values()))]
    return "\n\n".join(_table(mode, label, names, speeds) for mode, label in _MODES.items())


def _table(mode: Mode, label: str, names: Sequence[str], speeds: Speeds) -> str:
    peers = [name for name in names if name != OURS]
    head = [f"million characters/s of CPU, {label}", *(_LABELS[name] for name in names)]
    rows: list[Iterable[str]] = []
    for stream in STREAMS:
        rounds = speeds[f"{mode}/{stream}"]
        row = [stream, *(number(statistics.median(rounds[name]) / 1e6) for name in names)]
        if peers:
            # Each ratio is of one round, whose runs stood side by side.
            faster = [max(side) for side in zip(*(rounds[name] for name in peers), strict=True)]
            row.append(number(statistics.median(a / b for a, b in zip(rounds[OURS], faster, strict=True))))
        rows.append(row)
    return table([*head, "ours / the faster of them"] if peers else head, rows)
