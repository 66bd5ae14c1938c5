"""Chats that share what the prompts of a trace share: equal blocks are equal words, at equal places."""

import random
from collections.abc import Iterator, Sequence

from tokenizers import Tokenizer

from router.replay.prefixes import Prefixes
from router.replay.runs import Run, split
from router.replay.trace import Trace

Message = dict[str, str]

_SHORTEST_WORD = 3
_SPACE = "Ġ"


def single_words(tokenizer: Tokenizer) -> list[str]:
    """Return the words that are one token behind a space, in a fixed order."""
    entries = sorted(entry[1:] for entry in tokenizer.get_vocab() if entry.startswith(_SPACE))
    words = [word for word in entries if word.isascii() and word.isalpha() and len(word) >= _SHORTEST_WORD]
    encoded = tokenizer.encode_batch([f" {word}" for word in words], add_special_tokens=False)
    return [word for word, encoding in zip(words, encoded, strict=True) if len(encoding.ids) == 1]


class Prompts:
    """The prompts of a trace as chats.

    A message is what lies between two places where some prompt of the trace ends or parts from another. So prompts that
    begin with the same blocks begin with the same messages, whichever sessions they are of: the system message is what
    sessions have in common, and each turn adds the answer to the one before it and what the user says next.

    Args:
        trace: The sessions.
        words: Words of one token each.
        words_per_block: Length of a block's text.
    """

    def __init__(self, trace: Trace, words: Sequence[str], words_per_block: int) -> None:
        self._trace = trace
        self._words = words
        self._words_per_block = words_per_block
        self._prefixes = Prefixes()
        sessions = trace.sessions
        self._ends = [[self._prefixes.insert(turn.blocks) for turn in session.turns] for session in sessions]
        self._prefixes.freeze()
        self._messages: dict[int, list[Message]] = {}

    def chat(self, session: int, turn: int) -> list[Message]:
        """Return the messages of a request, by its session's and its turn's index."""
        left: Sequence[Run] = self._trace.sessions[session].turns[turn].blocks
        chat: list[Message] = []
        for depth, node in enumerate(self._prefixes.path(self._ends[session][turn])):
            runs, left = split(left, self._prefixes.count[node])
            if node not in self._messages:
                self._messages[node] = list(self._between(depth, runs))
            chat += self._messages[node]
        return chat

    def _between(self, depth: int, runs: Sequence[Run]) -> Iterator[Message]:
        if depth == 0:
            yield {"role": "system", "content": self._text(runs)}
            return
        answer, rest = split(runs, 1) if depth > 1 else ((), runs)
        if answer and rest:
            yield {"role": "assistant", "content": self._text(answer)}
        yield {"role": "user", "content": self._text(rest or answer)}

    def _text(self, runs: Sequence[Run]) -> str:
        blocks = (block for first, count in runs for block in range(first, first + count))
        chosen = (random.Random(block).choices(self._words, k=self._words_per_block) for block in blocks)
        return "".join(f" {word}" for words in chosen for word in words)
