"""The token ids of an answer, which the API does not say: its log probabilities give each token's bytes."""

from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from components.frontend.detokenization import TokenBytes
from tests.live.chat import Answer


class Ids:
    """Reads answers of one model.

    Args:
        model: The model's folder.
    """

    def __init__(self, model: Path) -> None:
        known = TokenBytes(Tokenizer.from_file(str(model / "tokenizer.json")))
        self._ids = {known[token_id]: token_id for token_id in range(len(known))}
        assert len(self._ids) == len(known), "two tokens of the vocabulary have the same bytes"

    def of(self, answer: Answer) -> list[int]:
        """The ids of the generated tokens; the answer must have been asked for with `logprobs`."""
        return [self._ids[bytes(entry.bytes)] for entry in _entries(answer)]


def _entries(answer: Answer) -> list[Any]:
    assert answer.logprobs, "logprobs were not asked for"
    return answer.logprobs
