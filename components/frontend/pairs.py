"""A prompt as a pair of made-up tokens for each KV block, for which Dynamo's index answers as for the prompt.

Dynamo finds a prompt by a hash of each block's tokens, and can be asked by a list of all tokens only: with 146K of them
that takes 2 ms, after 4 ms to make the list. The hash of two tokens can be any number. So prompts are hashed here, and
a router for blocks of two tokens is asked for pairs that have the hashes of the prompt's blocks: 1 ms in all.
"""

import logging
from typing import Final, NamedTuple

import numpy as np
from dynamo._core import compute_block_hash_for_seq
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from components.frontend.xxh3 import unhash

log = logging.getLogger(__name__)

Tokens = NDArray[np.uint32]

PAIR: Final = 2
"""Tokens of a block as the index is asked for it."""

_SEED: Final = 1337
"""Dynamo's (`lib/kv-router/src/protocols.rs`)."""

_SAMPLE_BLOCKS: Final = 4


class Prompt(NamedTuple):
    """A prompt as the index is asked for it.

    Attributes:
        token_ids: All of it.
        pairs: What stands for its blocks, None where that was not made ready.
    """

    token_ids: Tokens
    pairs: list[int] | None = None


def pairs_of(token_ids: Tokens, block_size: int) -> list[int]:
    """Return the pairs that stand for the whole blocks of a prompt, one after the other."""
    prompt, step = np.ascontiguousarray(token_ids, "<u4").tobytes(), 4 * block_size
    ends = range(step, len(prompt) + 1, step)
    hashes = [xxh3_64_intdigest(prompt[end - step : end], _SEED) for end in ends]
    pairs: list[int] = unhash(np.array(hashes, np.uint64), _SEED).view("<u4").tolist()
    return pairs


def possible(block_size: int) -> bool:
    """Tell whether Dynamo hashes blocks of this many tokens, and pairs, as it is done here."""
    sample = np.random.default_rng(0).integers(0, 2**18, _SAMPLE_BLOCKS * block_size, dtype=np.uint32)
    theirs = compute_block_hash_for_seq(sample.tolist(), block_size)
    same: bool = compute_block_hash_for_seq(pairs_of(sample, block_size), PAIR) == theirs
    if not same:
        log.warning("Dynamo hashes blocks in another way: the index is asked by whole prompts, 6 ms for 146K tokens")
    return same
