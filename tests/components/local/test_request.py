from typing import Any

import pytest

from components.local.request import RequestError, parse


def test_what_is_not_given_has_the_engine_s_default() -> None:
    request = parse({"token_ids": [1, 2, 3]}, 100)
    assert request.max_tokens == 97
    assert (request.temperature, request.top_p, request.top_k) == (1.0, 1.0, 0)
    assert request.seed is None
    assert request.guided == {}
    assert request.top_logprobs is None


def test_everything_given_is_read() -> None:
    raw = {
        "token_ids": [1],
        "stop_conditions": {
            "max_tokens": 5,
            "min_tokens": 2,
            "stop": ["END", "ü"],
            "stop_token_ids_hidden": [7],
            "stop_token_ids": [8],
            "ignore_eos": True,
        },
        "sampling_options": {
            "temperature": 0,
            "top_p": 0.9,
            "top_k": 40,
            "seed": 3,
            "guided_decoding": {"regex": "a"},
        },
        "output_options": {"logprobs": 2},
        "eos_token_ids": [9],
        "prefill_result": {"prompt_tokens_details": {"cached_tokens": 64}},
    }
    request = parse(raw, 100)
    assert (request.max_tokens, request.min_tokens, request.ignore_eos) == (5, 2, True)
    assert request.stop == (b"END", "ü".encode())
    assert request.stop_ids == {7, 8}
    assert request.end_ids == {9}
    assert (request.temperature, request.top_p, request.top_k, request.seed) == (0, 0.9, 40, 3)
    assert request.guided == {"regex": "a"}
    assert request.top_logprobs == 2
    assert request.prompt_tokens_details == {"cached_tokens": 64}


def test_the_answer_is_cut_to_what_the_context_leaves() -> None:
    assert parse({"token_ids": [1] * 90, "stop_conditions": {"max_tokens": 50}}, 100).max_tokens == 10


@pytest.mark.parametrize("top_k", [-1, 0, None])
def test_no_top_k_keeps_all(top_k: int | None) -> None:
    assert parse({"token_ids": [1], "sampling_options": {"top_k": top_k}}, 100).top_k == 0


def test_a_prompt_that_fills_the_context_is_refused() -> None:
    with pytest.raises(RequestError, match="the prompt has 100 tokens, and the model takes 100 with the answer"):
        parse({"token_ids": [1] * 100}, 100)


@pytest.mark.parametrize(
    ("section", "name", "value"),
    [
        ("stop_conditions", "max_tokens", 0),
        ("stop_conditions", "min_tokens", -1),
        ("sampling_options", "temperature", -0.1),
        ("sampling_options", "temperature", "hot"),
        ("sampling_options", "top_p", 1.5),
    ],
)
def test_a_value_that_cannot_be_honoured_is_named(section: str, name: str, value: Any) -> None:
    with pytest.raises(RequestError, match=f"^{name} is {value!r}; it has to be a number of at least"):
        parse({"token_ids": [1], section: {name: value}}, 100)
