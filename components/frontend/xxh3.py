"""The inverse of XXH3-64 for inputs of eight bytes.

XXH3 mixes eight bytes by steps that can all be taken back, so that every hash is the hash of exactly one input. After
the specification of xxHash (github.com/Cyan4973/xxHash, doc/xxhash_spec.md).
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]

_KEY: Final = 0x1CAD21F72C81017C ^ 0xDB979083E96DD4DE
"""Bytes 8 to 23 of the default secret, folded."""

_UNDO: Final = np.uint64(pow(0x9FB21C651E98DF25, -1, 2**64))
_MASK: Final = 2**64 - 1


def unhash(hashes: Words, seed: int) -> Words:
    """Return the eight bytes of which each is the hash, as little-endian words.

    Args:
        hashes: Hashes.
        seed: The hash's seed.
    """
    word = hashes ^ (hashes >> np.uint64(28)) ^ (hashes >> np.uint64(56))
    word = word * _UNDO
    word ^= (word >> np.uint64(35)) + np.uint64(8)
    word *= _UNDO
    # x ^ rotl(x, 24) ^ rotl(x, 49), 64 times over, is x: so 63 times more take it back, as 1 + 2 + 4 + ... + 32.
    for doubled in range(6):
        word = word ^ _rotated(word, (24 << doubled) % 64) ^ _rotated(word, (49 << doubled) % 64)
    word ^= np.uint64(_key(seed))
    # The two halves of the input are mixed the other way about.
    return _rotated(word, 32)


def _rotated(words: Words, bits: int) -> Words:
    if not bits:
        return words
    return (words << np.uint64(bits)) | (words >> np.uint64(64 - bits))


def _key(seed: int) -> int:
    swapped = int.from_bytes((seed & 0xFFFFFFFF).to_bytes(4, "little"), "big")
    return (_KEY - (seed ^ swapped << 32)) & _MASK
