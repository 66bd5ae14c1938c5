"""Fifty conversations whose answers tell whether each block of the KV cache was the right one."""

import random
from typing import Any

from tests.live.chat import Json, user

_WORDS = (
    "read the file then run all of its tests again and say what failed where since when it was last seen " * 2
).split()


def _text(seed: int, words: int) -> str:
    chosen = random.Random(seed)
    return " ".join(chosen.choice(_WORDS) for _ in range(words))


def _turns(seed: int, count: int) -> list[Json]:
    """A conversation with several turns behind it."""
    history: list[Any] = user(_text(seed, 60))
    for turn in range(count):
        history += [{"role": "assistant", "content": _text(seed + turn + 1, 30)}, *user(_text(seed + turn + 7, 40))]
    return history


SHARED = _text(1, 400)
"""A beginning that ten conversations have in common, a dozen blocks of 32 tokens."""

CONVERSATIONS: list[list[Json]] = [
    *(user(f"{_text(50 + number, 8)} {_text(2, 150)}") for number in range(10)),  # They differ in their first block.
    *(user(f"{SHARED} {_text(100 + number, 20)}") for number in range(10)),
    *(user(_text(200 + number, 1 + 3 * number)) for number in range(10)),  # From less than a block on.
    *(user(_text(300 + number, 700 + 90 * number)) for number in range(10)),  # Several steps of a prefill engine.
    *(_turns(400 + 20 * number, 1 + number % 4) for number in range(10)),
]
