"""Prompt tokenization that pays only for new text.

An agent's prompt grows by appending. Added tokens (role markers, ``<think>`` and the like) cut a text into pieces that
a byte-level BPE encodes independently of each other, so what was encoded once is never encoded again. Two grains are
cached: blocks of about 64 KB, so that the old part of a long prompt is hashed and copied and not even split, and the
pieces between added tokens, for the end of the prompt.
"""

import hashlib
import re
import threading
from array import array
from collections import OrderedDict
from collections.abc import Iterable
from itertools import chain

from tokenizers import AddedToken, Tokenizer

BLOCK_CHARACTERS = 65_536
_PROBE = "A b\n\n  c{0} d, 12345 {0}{0}\nÅ 世界 {0}x"


def splits_at_added_tokens(tokenizer: Tokenizer) -> bool:
    """Tell whether text between added tokens is encoded independently of what stands around it.

    False where an added token swallows neighbouring whitespace, matches whole words only or stands inside another, and
    where encoding a probe by pieces differs from encoding it whole (a normalizer or pre-tokenizer that looks across the
    cut).
    """
    added = list(tokenizer.get_added_tokens_decoder().values())
    if not added or any(token.lstrip or token.rstrip or token.single_word for token in added):
        return False
    if any(one.content in other.content[1:] for one in added for other in added):
        return False
    return all(_probe_agrees(tokenizer, token) for token in added)


def _probe_agrees(tokenizer: Tokenizer, token: AddedToken) -> bool:
    probe = _PROBE.format(token.content)
    whole = tokenizer.encode(probe, add_special_tokens=False).ids
    pieces = re.split(f"({re.escape(token.content)})", probe)
    apart = [tokenizer.encode(piece, add_special_tokens=False).ids for piece in pieces if piece]
    return whole == list(chain.from_iterable(apart))


class PromptTokenizer:
    """Encodes rendered prompts; identical to ``tokenizer.encode`` for every text.

    Safe to call from several threads at once.

    Args:
        tokenizer: The model's tokenizer.
        cache_bytes: Most bytes of token ids to keep, 4 a token; what was used longest ago goes first.
    """

    def __init__(self, tokenizer: Tokenizer, *, cache_bytes: int = 512 * 2**20) -> None:
        self._tokenizer = tokenizer
        self._added = {token.content: id_ for id_, token in tokenizer.get_added_tokens_decoder().items()}
        self._splittable = splits_at_added_tokens(tokenizer)
        longest_first = sorted(self._added, key=len, reverse=True)
        self._cut = re.compile("(" + "|".join(map(re.escape, longest_first)) + ")")
        self._cache: OrderedDict[bytes, array[int]] = OrderedDict()
        self._cached_bytes = 0
        self._cache_bytes = cache_bytes
        self._lock = threading.Lock()

    @property
    def cached_bytes(self) -> int:
        """Bytes of token ids in the cache."""
        return self._cached_bytes

    def encode(self, text: str) -> "array[int]":
        """Return the token ids of a rendered prompt, 4 bytes each; no special tokens are added."""
        if not self._splittable:
            return array("I", self._tokenizer.encode(text, add_special_tokens=False).ids)
        blocks = self._blocks(text)
        # The last block still grows: its ids are kept by the piece only.
        known = {index: ids for index, block in enumerate(blocks[:-1]) if (ids := self._find(_key(block))) is not None}
        split = {index: self._cut.split(block) for index, block in enumerate(blocks) if index not in known}
        pieces = self._encode_pieces(chain.from_iterable(split.values()))
        for index, parts in split.items():
            known[index] = _joined(pieces[part] for part in parts)
            if index < len(blocks) - 1:
                self._keep(_key(blocks[index]), known[index])
        return _joined(known[index] for index in range(len(blocks)))

    def _blocks(self, text: str) -> list[str]:
        blocks, start = [], 0
        while (cut := self._cut.search(text, start + BLOCK_CHARACTERS)) is not None:
            blocks.append(text[start : cut.start()])
            start = cut.start()
        return [*blocks, text[start:]]

    def _encode_pieces(self, pieces: Iterable[str]) -> "dict[str, array[int]]":
        """Return the ids of every distinct piece; the new ones are encoded at once, on all cores."""
        ids: dict[str, array[int]] = {"": array("I")}
        missing: dict[str, bytes] = {}
        for piece in pieces:
            if piece in ids or piece in missing:
                continue
            if (marker := self._added.get(piece)) is not None:
                ids[piece] = array("I", [marker])
            elif (found := self._find(key := _key(piece))) is not None:
                ids[piece] = found
            else:
                missing[piece] = key
        encoded = self._tokenizer.encode_batch_fast(list(missing), add_special_tokens=False) if missing else []
        for (piece, key), encoding in zip(missing.items(), encoded, strict=True):
            ids[piece] = array("I", encoding.ids)
            self._keep(key, ids[piece])
        return ids

    def _find(self, key: bytes) -> "array[int] | None":
        with self._lock:
            found = self._cache.get(key)
            if found is not None:
                self._cache.move_to_end(key)
            return found

    def _keep(self, key: bytes, ids: "array[int]") -> None:
        with self._lock:
            if key not in self._cache:
                self._cache[key] = ids
                self._cached_bytes += ids.itemsize * len(ids)
            while self._cached_bytes > self._cache_bytes:
                _, dropped = self._cache.popitem(last=False)
                self._cached_bytes -= dropped.itemsize * len(dropped)


def _joined(arrays: "Iterable[array[int]]") -> "array[int]":
    joined: array[int] = array("I")
    for ids in arrays:
        joined.extend(ids)
    return joined


def _key(text: str) -> bytes:
    # A digest, not the text: the key would weigh as much as the ids. The text decides the ids, block or piece.
    return hashlib.sha256(text.encode()).digest()
