"""The tokens of one answer, counted once for the client's usage and once for the server's metrics."""

from typing import Any

from components.frontend.request import Json


class TokenCounter:
    """Counts what the engine reports. All figures are tokens.

    Args:
        prompt_tokens: Length of the prompt.
        think_end_id: The token that ends reasoning; None where the output does not start inside reasoning.
    """

    def __init__(self, prompt_tokens: int, think_end_id: int | None) -> None:
        self._prompt_tokens = prompt_tokens
        self._think_end_id = think_end_id
        self._completion_tokens = 0
        self._reasoning_tokens = 0
        self._cached_tokens: int | None = None
        self._metered_tokens = 0

    def count(self, output: Json) -> None:
        """Count one engine output."""
        token_ids: list[int] = output.get("token_ids") or []
        self._completion_tokens += len(token_ids)
        if self._think_end_id is not None:
            self._count_reasoning(token_ids, self._think_end_id)
        details: dict[str, Any] = (output.get("completion_usage") or {}).get("prompt_tokens_details") or {}
        if (cached := details.get("cached_tokens")) is not None:
            self._cached_tokens = cached

    def _count_reasoning(self, token_ids: list[int], think_end_id: int) -> None:
        if think_end_id in token_ids:
            self._reasoning_tokens += token_ids.index(think_end_id) + 1
            self._think_end_id = None
        else:
            self._reasoning_tokens += len(token_ids)

    @property
    def prompt(self) -> int:
        """Length of the prompt."""
        return self._prompt_tokens

    @property
    def completion(self) -> int:
        """Tokens the engine has written so far."""
        return self._completion_tokens

    @property
    def cached(self) -> int | None:
        """Prompt tokens that the engine found cached; None before it has told."""
        return self._cached_tokens

    def usage(self) -> Json:
        """Return OpenAI's ``usage``."""
        return {
            "prompt_tokens": self._prompt_tokens,
            "completion_tokens": self._completion_tokens,
            "total_tokens": self._prompt_tokens + self._completion_tokens,
            "prompt_tokens_details": {"cached_tokens": self._cached_tokens or 0},
            "completion_tokens_details": {"reasoning_tokens": self._reasoning_tokens},
        }

    def meter(self) -> Json:
        """Return the counts that Dynamo's server keeps its metrics by: in all, and since the last time.

        They travel as ``llm_metrics`` in a chunk, or alone; the client does not see them.
        """
        new = self._completion_tokens - self._metered_tokens
        self._metered_tokens = self._completion_tokens
        return {
            "input_tokens": self._prompt_tokens,
            "output_tokens": self._completion_tokens,
            "chunk_tokens": new,
            # The server takes the first figure it gets, so none is given before the engine has told it.
            "cached_tokens": self._cached_tokens,
        }
