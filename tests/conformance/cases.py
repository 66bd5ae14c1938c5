"""The published cases and schemas, as the tests read them."""

import functools
import json
import random
from pathlib import Path
from typing import Any, Literal

import msgspec

from toolcall.conformance import Case, load_cases

DATA = Path(__file__).parent / "data"

OUTPUTS = ("dev.jsonl", "reports.jsonl")
"""The files of outputs and their readings."""


class TagCase(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A request, a text, and whether the structural tag of the request lets the model write it."""

    id: str
    kind: str
    tools: list[dict[str, Any]]
    text: str
    accepted: bool
    why: str
    source: str
    tool_choice: str | dict[str, Any] | None = None
    parallel_tool_calls: bool | None = None
    reasoning: Literal["none", "tag", "engine"] = "none"


@functools.cache
def load(name: str) -> tuple[dict[str, Any], ...]:
    return tuple(json.loads(line) for line in lines(name))


@functools.cache
def outputs() -> tuple[Case, ...]:
    """Every case of an output and its one right reading."""
    return tuple(case for name in OUTPUTS for case in load_cases((DATA / name).read_text("utf-8")))


@functools.cache
def tag_cases() -> tuple[TagCase, ...]:
    """Every case of a text that a tag admits or refuses."""
    return tuple(msgspec.json.decode(line, type=TagCase) for line in lines("tags.jsonl"))


def lines(name: str) -> list[str]:
    # Values hold U+2028 and the like, at which `splitlines` would cut.
    return [line for line in (DATA / name).read_text("utf-8").split("\n") if line]


def seeded(seed: int | str) -> random.Random:
    return random.Random(seed)
