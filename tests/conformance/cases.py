"""Reading the published cases, and running one through the parser."""

import functools
import json
import random
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from toolcall import Message, Parser, parse_tools
from toolcall.admit import same
from toolcall.status import collect

_DATA = Path(__file__).parent / "data"
_SIZES = (1, 1, 2, 3, 4, 7, 13, 40)


@functools.cache
def load(name: str) -> tuple[dict[str, Any], ...]:
    # Values hold U+2028 and the like, at which `splitlines` would cut.
    return tuple(json.loads(line) for line in (_DATA / name).read_text("utf-8").split("\n") if line)


def seeded(seed: int | str) -> random.Random:
    return random.Random(seed)


def read(case: dict[str, Any], chunks: Iterable[str]) -> Message:
    tools = parse_tools(case["tools"], case.get("tool_choice"), case.get("parallel_tool_calls"))
    parser = Parser(tools, reasoning=case["thinking"])
    events = [event for chunk in chunks for event in parser.feed(chunk)]
    events += parser.finish(case.get("engine_finish", "stop"))
    return collect(events, finish_reason=parser.finish_reason, truncated=parser.truncated)


def cut(text: str, rng: random.Random) -> list[str]:
    chunks: list[str] = []
    at = 0
    while at < len(text):
        size = rng.choice(_SIZES)
        chunks.append(text[at : at + size])
        at += size
    return chunks


def differences(case: dict[str, Any], message: Message) -> list[str]:
    """The fields in which a message is not what the case expects."""
    expect = case["expect"]
    loose = bool(expect.get("tool_calls")) or case.get("engine_finish") == "length"
    found = []
    if "reasoning" in expect and _trim(expect["reasoning"]) != _trim(message.reasoning):
        found.append("reasoning")
    if "content" in expect and _trim(expect["content"], loose=loose) != _trim(message.content, loose=loose):
        found.append("content")
    if "finish_reason" in expect and expect["finish_reason"] != message.finish_reason:
        found.append("finish_reason")
    if "tool_calls" in expect and not _same_calls(expect["tool_calls"], message):
        found.append("tool_calls")
    return found


def _same_calls(expected: list[dict[str, Any]], message: Message) -> bool:
    if len(expected) != len(message.tool_calls):
        return False
    return all(
        call.name == each["name"]
        and same(json.loads(call.arguments, object_pairs_hook=_unrepeated), each["arguments"])
        and each.get("status", call.status.kind) == call.status.kind
        for each, call in zip(expected, message.tool_calls, strict=True)
    )


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    built = dict(pairs)
    assert len(built) == len(pairs), "a key is repeated"
    return built


def _trim(text: str | None, *, loose: bool = False) -> str:
    trimmed = (text or "").strip()
    return re.sub(r"\s+", " ", trimmed) if loose else trimmed
