"""Log probabilities in OpenAI's form."""

from tokenizers import Tokenizer

from components.frontend.detokenization import TokenBytes
from components.frontend.logprobs import logprob_entries


def test_tokens_that_are_half_a_character_show_their_bytes(tokenizer: Tokenizer) -> None:
    tokens = TokenBytes(tokenizer)
    half = next(id_ for id_ in range(len(tokens)) if tokens[id_] == b"\xf0")
    output = {"token_ids": [half], "log_probs": [-1.0], "top_logprobs": [[{"token_id": half, "logprob": -1.0}]]}

    (entry,) = logprob_entries(output, tokens, 1)

    assert entry["bytes"] == [0xF0]
    replacement = b"\xf0".decode(errors="replace")
    assert (entry["token"], entry["logprob"]) == (replacement, -1.0)
    assert entry["top_logprobs"] == [{"token": replacement, "logprob": -1.0, "bytes": [0xF0]}]


def test_an_engine_may_report_no_alternatives(tokenizer: Tokenizer) -> None:
    output = {"token_ids": [1, 2], "log_probs": [-1.0, -2.0], "top_logprobs": None}

    entries = list(logprob_entries(output, TokenBytes(tokenizer), 2))

    assert [entry["logprob"] for entry in entries] == [-1.0, -2.0]
    assert [entry["top_logprobs"] for entry in entries] == [[], []]


def test_no_more_alternatives_than_asked_for_and_the_likeliest(tokenizer: Tokenizer) -> None:
    top = [{"token_id": id_, "logprob": logprob} for id_, logprob in ((9, -5.0), (7, -0.5), (8, -1.0))]
    output = {"token_ids": [9], "log_probs": [-5.0], "top_logprobs": [top]}

    (entry,) = logprob_entries(output, TokenBytes(tokenizer), 2)

    assert [other["logprob"] for other in entry["top_logprobs"]] == [-0.5, -1.0]
