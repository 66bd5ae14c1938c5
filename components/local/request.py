"""What a preprocessed request asks of the decoder, checked."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

_MAX_TOP_LOGPROBS = 20


class RequestError(ValueError):
    """A request that cannot be served; the message is fit for the client."""


@dataclass(frozen=True)
class Request:
    """A Dynamo `PreprocessedRequest`, as far as the decoder honours it.

    Attributes:
        prompt: Token ids.
        max_tokens: The answer's limit: the request's own or what the context leaves, whichever is less.
        min_tokens: No end before this many tokens.
        stop: Texts that end the answer where they are completed.
        stop_ids: Token ids that end it besides the model's own.
        end_ids: The ends of a turn as the request names them, besides the model's own.
        ignore_eos: Whether ends of a turn are left out.
        temperature: 0 takes the likeliest token.
        top_p: Share of the probability that is kept.
        top_k: Number of tokens that are kept; 0 keeps all.
        seed: None when the request has none.
        guided: `guided_decoding`, or an empty dict.
        top_logprobs: Alternatives reported for each token; None when no log-probabilities are.
        prompt_tokens_details: As the prefill worker reported it.
    """

    prompt: Sequence[int]
    max_tokens: int
    min_tokens: int = 0
    stop: tuple[bytes, ...] = ()
    stop_ids: frozenset[int] = frozenset()
    end_ids: frozenset[int] = frozenset()
    ignore_eos: bool = False
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    seed: int | None = None
    guided: dict[str, Any] = field(default_factory=dict)
    top_logprobs: int | None = None
    prompt_tokens_details: dict[str, Any] | None = None


def parse(raw: dict[str, Any], max_model_len: int) -> Request:
    """Read a preprocessed request.

    Args:
        raw: As it comes from Dynamo's frontend or from a chat engine of ours.
        max_model_len: Longest prompt and answer together, in tokens.

    Raises:
        RequestError: The prompt leaves no room, or a field has a value that cannot be honoured.
    """
    prompt = raw.get("token_ids") or []
    room = max_model_len - len(prompt)
    if room <= 0:
        raise RequestError(f"the prompt has {len(prompt)} tokens, and the model takes {max_model_len} with the answer")
    stops = raw.get("stop_conditions") or {}
    sampling = raw.get("sampling_options") or {}
    top_logprobs = (raw.get("output_options") or {}).get("logprobs")
    return Request(
        prompt=prompt,
        max_tokens=min(room, _number(stops, "max_tokens", room, 1)),
        min_tokens=_number(stops, "min_tokens", 0, 0),
        stop=tuple(text.encode() for text in stops.get("stop") or () if text),
        stop_ids=frozenset(stops.get("stop_token_ids_hidden") or ()) | frozenset(stops.get("stop_token_ids") or ()),
        end_ids=frozenset(raw.get("eos_token_ids") or ()),
        ignore_eos=bool(stops.get("ignore_eos")),
        temperature=_number(sampling, "temperature", 1.0, 0),
        top_p=_number(sampling, "top_p", 1.0, 0, 1),
        # vLLM's -1 and Dynamo's 0 both mean: keep all.
        top_k=max(0, _number(sampling, "top_k", 0, -1)),
        seed=sampling.get("seed"),
        guided=sampling.get("guided_decoding") or {},
        top_logprobs=None if top_logprobs is None else min(_MAX_TOP_LOGPROBS, int(top_logprobs)),
        prompt_tokens_details=(raw.get("prefill_result") or {}).get("prompt_tokens_details"),
    )


def _number(section: dict[str, Any], name: str, default: float, low: float, high: float = math.inf) -> Any:
    value = section.get(name)
    if value is None:
        return default
    if not isinstance(value, int | float) or not low <= value <= high:
        raise RequestError(f"{name} is {value!r}; it has to be a number of at least {low:g} and at most {high:g}")
    return value
