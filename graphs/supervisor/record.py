"""A log line of a process, read: its level, its own time, and what it says.

Four forms are known: Dynamo's JSON lines (`DYN_LOGGING_JSONL`), Dynamo's text lines, Python logging as vLLM writes it,
and glog as Mooncake's master writes it. Any other line is kept whole at level info.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import msgspec

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_DYNAMO = re.compile(
    r"(?P<time>\d{4}-\d\d-\d\dT[\d:.]+Z)\s+(?P<level>TRACE|DEBUG|INFO|WARN|ERROR)\s+(?P<message>.*)", re.DOTALL
)
_LOGGING = re.compile(r"(?:\([^()]* pid=\d+\)\s+)?(?P<level>DEBUG|INFO|WARNING|ERROR|CRITICAL)[ :].*", re.DOTALL)
_GLOG = re.compile(r"(?P<level>[IWEF])\d{4,8} [\d:.]+\s+\d+ \S+:\d+\] .*", re.DOTALL)
_LEVELS = {"WARN": "warning", "I": "info", "W": "warning", "E": "error", "F": "critical"}


@dataclass(frozen=True)
class Record:
    """One line: `time` as ISO 8601 in UTC, `level` in lower case as Python's logging names it."""

    time: str
    level: str
    message: str


def now() -> str:
    """The present as ISO 8601 in UTC, to the microsecond."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def parse(line: str) -> Record:
    """Read one line; ANSI colours are dropped, nothing else is."""
    text = plain(line)
    if text.startswith("{") and (record := _from_json(text)) is not None:
        return record
    if match := _DYNAMO.fullmatch(text):
        return Record(match["time"], _level(match["level"]), match["message"])
    if match := _LOGGING.fullmatch(text) or _GLOG.fullmatch(text):
        return Record(now(), _level(match["level"]), text)
    return Record(now(), "info", text)


def plain(line: str) -> str:
    """The line without ANSI colours."""
    return _ANSI.sub("", line) if "\x1b" in line else line


def _from_json(text: str) -> Record | None:
    try:
        fields: Any = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return None
    match fields:
        case {"time": str(time), "level": str(level), "target": str(target), "message": str(message)}:
            return Record(time, _level(level), f"{target}: {message}")
    return None


def _level(name: str) -> str:
    return _LEVELS.get(name, name.lower())
