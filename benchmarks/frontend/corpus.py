"""Prompts of a wanted length that no frontend has seen: lines of the standard library's source in random order."""

import random
import sysconfig
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

_FILES = 120
_MESSAGE_TOKENS = 1000

Message = dict[str, Any]


class Corpus:
    """Lines of real code, with their length in tokens.

    Args:
        tokenizer: Measures the lines. A message is as long as its lines to within a few percent.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        files = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))[:_FILES]
        text = "".join(file.read_text(errors="replace") for file in files)
        # What looks like one of the model's markers would be read as one.
        self._lines = [line for line in text.splitlines(keepends=True) if line.strip() and "<" not in line]
        encoded = tokenizer.encode_batch_fast(self._lines, add_special_tokens=False)
        self._tokens = [len(encoding) for encoding in encoded]

    def text(self, tokens: int, rng: random.Random) -> str:
        """Return a text of about so many tokens."""
        lines, left = [], tokens
        while left > 0:
            chosen = rng.randrange(len(self._lines))
            lines.append(self._lines[chosen])
            left -= self._tokens[chosen]
        return "".join(lines)

    def conversation(self, tokens: int, rng: random.Random) -> list[Message]:
        """Return messages of a thousand tokens each, the user's the last."""
        count = max(1, tokens // _MESSAGE_TOKENS)
        roles = ["user" if (count - index) % 2 else "assistant" for index in range(count)]
        return [{"role": role, "content": self.text(tokens // count, rng)} for role in roles]

    def next_turn(self, messages: list[Message], tokens: int, rng: random.Random) -> list[Message]:
        """Return the conversation one turn later: a short answer, and a message with the rest of the new tokens."""
        answer = self.text(_MESSAGE_TOKENS // 2, rng)
        asked = self.text(tokens - _MESSAGE_TOKENS // 2, rng)
        return [*messages, {"role": "assistant", "content": answer}, {"role": "user", "content": asked}]
