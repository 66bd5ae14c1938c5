"""Log probabilities of sampled tokens, in OpenAI's form."""

from collections.abc import Iterator

from components.frontend.detokenization import TokenBytes
from components.frontend.request import Json


def _token(data: bytes, logprob: float) -> Json:
    return {"token": data.decode(errors="replace"), "logprob": logprob, "bytes": list(data)}


def logprob_entries(output: Json, tokens: TokenBytes, limit: int) -> Iterator[Json]:
    """Yield one entry a token of an engine output, with its likeliest alternatives.

    Engines report the sampled token beside the likeliest ones where it is none of them; OpenAI counts it as well.

    Args:
        output: An item of the engine's stream: ``token_ids``, ``log_probs`` of the same length, and ``top_logprobs``,
            a list of ``{token_id, logprob}`` a token.
        limit: Most alternatives of a token, OpenAI's ``top_logprobs``.
        tokens: The tokenizer's byte table; the engine's own token texts cannot show half a character.
    """
    alternatives = output.get("top_logprobs") or [[] for _ in output["token_ids"]]
    for token_id, logprob, top in zip(output["token_ids"], output["log_probs"], alternatives, strict=True):
        entry = _token(tokens[token_id], logprob)
        likeliest = sorted(top, key=lambda other: -other["logprob"])[:limit]
        yield {**entry, "top_logprobs": [_token(tokens[other["token_id"]], other["logprob"]) for other in likeliest]}
