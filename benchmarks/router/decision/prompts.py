"""Prompts of made-up tokens, the same in every process."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

SIZES: Final = {"8K": 8_192, "32K": 32_768, "146K": 146_000}
"""Lengths of prompts, tokens."""

SHARED: Final = 4_096
"""Tokens that all prompts begin with, as those of one harness do."""

NEW: Final = 6_000
"""Tokens that a second turn adds."""

_VOCABULARY: Final = 150_000

Tokens = NDArray[np.uint32]


def prompt(session: int, tokens: int) -> Tokens:
    """Return the first prompt of a session."""
    return np.concatenate([_made_up(0, SHARED), _made_up(session + 1, tokens - SHARED)])


def second(first: Tokens, session: int) -> Tokens:
    """Return the session's next prompt, which repeats the first and goes on."""
    return np.concatenate([first, _made_up(-session - 1, NEW)])


def _made_up(seed: int, tokens: int) -> Tokens:
    generator = np.random.default_rng([abs(seed), seed < 0])
    return generator.integers(0, _VOCABULARY, tokens, dtype=np.uint32)
