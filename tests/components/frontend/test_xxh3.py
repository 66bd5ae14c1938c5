"""The inverse of XXH3 against Dynamo's own, which hashes blocks with seed 1337."""

import numpy as np
from dynamo._core import compute_block_hash_for_seq
from hypothesis import given
from hypothesis import strategies as st
from xxhash import xxh3_64_intdigest

from components.frontend.xxh3 import unhash

SEED = 1337
HASH = st.integers(0, 2**64 - 1)


@given(st.lists(HASH, min_size=1))
def test_eight_bytes_are_found_for_any_hash(hashes: list[int]) -> None:
    words = unhash(np.array(hashes, np.uint64), SEED)

    assert compute_block_hash_for_seq(words.view("<u4").tolist(), 2) == hashes


@given(HASH, HASH)
def test_the_seed_is_heeded(word: int, seed: int) -> None:
    hashed = xxh3_64_intdigest(word.to_bytes(8, "little"), seed)

    assert unhash(np.array([hashed], np.uint64), seed).tolist() == [word]


def test_no_hashes_are_those_of_nothing() -> None:
    assert unhash(np.empty(0, np.uint64), SEED).shape == (0,)
