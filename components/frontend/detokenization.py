"""Token ids back to text, incrementally, never half a character."""

import codecs
import json
from collections.abc import Iterable

from tokenizers import Tokenizer

REPLACEMENT = "�"


class UnsupportedTokenizerError(ValueError):
    """The tokenizer is not a byte-level BPE, so its tokens are not bytes."""


def byte_of_character() -> dict[str, int]:
    """Return GPT-2's table from the printable stand-in of a byte to the byte.

    Source: ``bytes_to_unicode`` of openai/gpt-2's ``encoder.py``, which every byte-level BPE shares.
    """
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    table = {chr(byte): byte for byte in printable}
    others = (byte for byte in range(256) if byte not in printable)
    table.update({chr(0x100 + index): byte for index, byte in enumerate(others)})
    return table


class TokenBytes:
    """The bytes each token id stands for.

    Args:
        tokenizer: A byte-level BPE, as GLM's is.

    Raises:
        UnsupportedTokenizerError: If the tokenizer decodes by other rules.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        decoder = json.loads(tokenizer.to_str()).get("decoder") or {}
        if decoder.get("type") != "ByteLevel":
            kind = decoder.get("type", "none")
            raise UnsupportedTokenizerError(f"tokenizer.json: decoder is {kind}, ByteLevel is needed (GLM's own)")
        added = tokenizer.get_added_tokens_decoder()
        to_byte = byte_of_character()
        size = max(tokenizer.get_vocab(with_added_tokens=True).values()) + 1
        self.special = frozenset(id_ for id_, token in added.items() if token.special)
        self._bytes = [b""] * size
        for text, id_ in tokenizer.get_vocab(with_added_tokens=True).items():
            self._bytes[id_] = text.encode() if id_ in added else bytes(to_byte[character] for character in text)

    def __len__(self) -> int:
        return len(self._bytes)

    def __getitem__(self, token_id: int) -> bytes:
        """Return a token's bytes; empty for an id the vocabulary does not hold (padding of the embedding table)."""
        return self._bytes[token_id] if token_id < len(self._bytes) else b""

    def join(self, token_ids: Iterable[int], *, skip_special: bool = True) -> bytes:
        """Return the bytes of a run of tokens, special tokens left out unless asked for."""
        if skip_special:
            return b"".join([self[id_] for id_ in token_ids if id_ not in self.special])
        return b"".join([self[id_] for id_ in token_ids])


class Detokenizer:
    """Text of one answer, as its tokens arrive.

    A character cut over several tokens is held back until it is whole; bytes that are no UTF-8 become U+FFFD.

    Args:
        tokens: The tokenizer's byte table.
        skip_special: Leave special tokens out of the text.
    """

    def __init__(self, tokens: TokenBytes, *, skip_special: bool = True) -> None:
        self._tokens = tokens
        self._skip_special = skip_special
        self._utf8 = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, token_ids: Iterable[int]) -> str:
        """Return the text these tokens complete."""
        return self._utf8.decode(self._tokens.join(token_ids, skip_special=self._skip_special))

    def finish(self) -> str:
        """Return what was held back: U+FFFD for a character that never ended."""
        return self._utf8.decode(b"", final=True)
