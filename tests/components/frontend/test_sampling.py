"""Sampling parameters in Dynamo's form."""

import pytest

from components.frontend.errors import RequestError
from components.frontend.request import ChatRequest
from components.frontend.sampling import generation_limit, output_options, sampling_options, stop_conditions


def request(**fields: object) -> ChatRequest:
    return ChatRequest(model="glm", messages=[], **fields)  # type: ignore[arg-type]


def test_the_limit_is_the_clients_within_the_context() -> None:
    assert generation_limit(request(max_tokens=10), 50, 100) == 10
    assert generation_limit(request(max_tokens=80), 50, 100) == 50
    assert generation_limit(request(), 50, 100) == 50


@pytest.mark.parametrize("prompt_tokens", [100, 101])
def test_a_prompt_that_leaves_no_room_is_refused_with_both_numbers(prompt_tokens: int) -> None:
    with pytest.raises(RequestError, match=rf"{prompt_tokens} tokens.* context is 100"):
        generation_limit(request(), prompt_tokens, 100)


def test_end_tokens_stop_unless_ignored() -> None:
    assert stop_conditions(request(), 5, [7, 8])["stop_token_ids_hidden"] == [7, 8]
    ignoring = stop_conditions(request(ignore_eos=True), 5, [7, 8])
    assert (ignoring["stop_token_ids_hidden"], ignoring["ignore_eos"]) == ([], True)


def test_the_clients_stop_tokens_go_to_the_engine() -> None:
    assert stop_conditions(request(stop_token_ids=[3]), 5, [7])["stop_token_ids"] == [3]


def test_sampling_carries_what_was_set_and_the_constraint() -> None:
    options = sampling_options(request(temperature=0.0, seed=4), {"regex": "a"})

    assert (options["temperature"], options["seed"], options["top_p"]) == (0.0, 4, None)
    assert options["guided_decoding"] == {"regex": "a"}


@pytest.mark.parametrize(
    ("fields", "asked"),
    [({}, None), ({"logprobs": False}, None), ({"logprobs": True}, 0), ({"logprobs": True, "top_logprobs": 3}, 3)],
)
def test_log_probabilities_are_asked_for_when_wanted(fields: dict[str, object], asked: int | None) -> None:
    assert output_options(request(**fields))["logprobs"] == asked
