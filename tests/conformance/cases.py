"""The published cases and schemas, as the tests read them."""

import functools
import json
import random
from pathlib import Path
from typing import Any

from toolcall.conformance import Case, load_cases

DATA = Path(__file__).parent / "data"


@functools.cache
def load(name: str) -> tuple[dict[str, Any], ...]:
    # Values hold U+2028 and the like, at which `splitlines` would cut.
    return tuple(json.loads(line) for line in (DATA / name).read_text("utf-8").split("\n") if line)


@functools.cache
def outputs() -> tuple[Case, ...]:
    """Every case of an output and its one right reading."""
    return load_cases((DATA / "dev.jsonl").read_text("utf-8"))


def seeded(seed: int | str) -> random.Random:
    return random.Random(seed)
