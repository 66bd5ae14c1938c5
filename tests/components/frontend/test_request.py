"""The typed request, and what is refused of it."""

from typing import Any

import pytest

from components.frontend.errors import RequestError
from components.frontend.request import read_request

BODY: dict[str, Any] = {"model": "glm", "messages": [{"role": "user", "content": "hi"}]}


def test_unknown_fields_are_the_servers_business() -> None:
    assert read_request({**BODY, "service_tier": "auto"}).model == "glm"


def test_max_completion_tokens_comes_before_max_tokens() -> None:
    assert read_request({**BODY, "max_tokens": 5}).limit == 5
    assert read_request({**BODY, "max_tokens": 5, "max_completion_tokens": 3}).limit == 3


@pytest.mark.parametrize(("stop", "strings"), [(None, []), ("a", ["a"]), (["a", "b"], ["a", "b"])])
def test_stop_may_be_one_string_or_several(stop: Any, strings: list[str]) -> None:
    assert read_request({**BODY, "stop": stop}).stop_strings == strings


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [({}, True), ({"stream": True}, False), ({"stream": True, "stream_options": {"include_usage": True}}, True)],
)
def test_usage_is_given_whole_and_streamed_on_request(fields: dict[str, Any], wanted: bool) -> None:
    assert read_request({**BODY, **fields}).wants_usage is wanted


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"n": 3}, "^n: 3 choices"),
        ({"top_logprobs": 2}, "^top_logprobs: needs logprobs"),
        ({"logit_bias": {"1": 2.0}}, "^logit_bias"),
        ({"continue_final_message": True}, "^continue_final_message"),
        ({"temperature": "warm"}, r"\$\.temperature"),
    ],
)
def test_what_cannot_be_served_is_refused_by_its_field(fields: dict[str, Any], why: str) -> None:
    with pytest.raises(RequestError, match=why):
        read_request({**BODY, **fields})


def test_one_choice_may_be_asked_for() -> None:
    assert read_request({**BODY, "n": 1}).n == 1
