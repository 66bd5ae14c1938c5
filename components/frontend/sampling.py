"""The client's sampling parameters in the form of Dynamo 1.6.1's preprocessed request.

Source of the names: what Dynamo's own preprocessor sends to a worker (``stop_conditions``, ``sampling_options``,
``output_options`` of ``lib/llm/src/protocols/common``).
"""

from typing import Any

from components.frontend.errors import RequestError
from components.frontend.request import ChatRequest, Json

SAMPLING_FIELDS = (
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "presence_penalty",
    "frequency_penalty",
    "repetition_penalty",
    "seed",
)


def generation_limit(request: ChatRequest, prompt_tokens: int, context_length: int) -> int:
    """Return how many tokens the answer may have: what the client asked for, and what the context leaves.

    Raises:
        RequestError: If the prompt leaves no room for a token.
    """
    room = context_length - prompt_tokens
    if room < 1:
        message = f"the prompt has {prompt_tokens} tokens, the model's context is {context_length}: shorten the prompt"
        raise RequestError(message, "messages")
    return room if request.limit is None else min(request.limit, room)


def stop_conditions(request: ChatRequest, max_tokens: int, eos_token_ids: list[int]) -> Json:
    """Return when the engine stops by itself. Stop strings are not among it: they are found in the text, here."""
    return {
        "max_tokens": max_tokens,
        "min_tokens": request.min_tokens,
        "ignore_eos": request.ignore_eos,
        "stop_token_ids": request.stop_token_ids,
        "stop_token_ids_hidden": [] if request.ignore_eos else eos_token_ids,
    }


def sampling_options(request: ChatRequest, guided_decoding: Json | None) -> Json:
    """Return the sampling parameters the client set, and the constraint on what may be sampled."""
    options: dict[str, Any] = {name: getattr(request, name) for name in SAMPLING_FIELDS}
    return {**options, "n": 1, "guided_decoding": guided_decoding}


def output_options(request: ChatRequest) -> Json:
    """Return what the engine reports beside token ids: how many alternatives' log probabilities."""
    logprobs = (request.top_logprobs or 0) if request.logprobs else None
    return {"logprobs": logprobs, "skip_special_tokens": request.skip_special_tokens}
