"""A worker that answers a prompt with the output of the case that the prompt names."""

import re
from collections.abc import AsyncIterator, Sequence
from typing import Any, Final

from tokenizers import Tokenizer

from components.local import markers
from components.peers.protocol import Mode
from toolcall.conformance import Case

_ASKED: Final = re.compile(r"<\|user\|>(\w+) (\d+)")


def question(index: int, mode: Mode) -> str:
    """Return the user's message that asks for a case's output."""
    return f"{mode} {index}"


class ScriptedWorker:
    """Says the outputs of cases: in one chunk for an answer that is to be read whole, else a token a chunk.

    Args:
        tokenizer: The model's.
        cases: The cases, by index.
    """

    def __init__(self, tokenizer: Tokenizer, cases: Sequence[Case]) -> None:
        self._tokenizer = tokenizer
        self._cases = cases

    async def generate(self, request: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
        """Answer a preprocessed request, in Dynamo's engine protocol."""
        prompt = self._tokenizer.decode(request["token_ids"], skip_special_tokens=False)
        asked = _ASKED.search(prompt)
        if asked is None:
            raise ValueError(f"a prompt that asks for no case: {prompt}")
        case = self._cases[int(asked[2])]
        ids = self._tokenizer.encode(case.output, add_special_tokens=False).ids
        size = 1 if asked[1] == "streamed" else max(1, len(ids))
        for start in range(0, len(ids), size):
            yield {"token_ids": ids[start : start + size]}
        end = [] if case.engine_finish == "length" else [self._tokenizer.token_to_id(markers.END_OF_TEXT)]
        yield {"token_ids": end, "finish_reason": case.engine_finish}
