"""Log probabilities of the tokens of an answer."""

import json
import math
from typing import Any

import pytest

from tests.live.chat import NO_THINKING, Answer, Chat, user

SCHEMA = {"type": "object", "properties": {"city": {"const": "東京 🗼"}}, "required": ["city"]}


def text(answer: Answer) -> str:
    """The answer as the bytes of its tokens spell it; the token that ended it has no text and no entry."""
    assert answer.finish_reason == "stop"
    assert answer.usage is not None
    assert len(answer.logprobs) == answer.usage.completion_tokens - 1
    return b"".join(bytes(entry.bytes) for entry in answer.logprobs).decode()


def test_the_bytes_of_the_tokens_are_the_answer(chat: Chat) -> None:
    answer = chat.whole(user("Hello"), logprobs=True, extra_body=NO_THINKING)
    assert text(answer) == answer.content


def test_reasoning_has_log_probabilities_too(chat: Chat) -> None:
    answer = chat.whole(user("Hello"), logprobs=True)
    assert text(answer) == f"{answer.reasoning}</think>{answer.content}"


def test_characters_cut_over_tokens_are_whole_in_bytes(chat: Chat) -> None:
    form = {"type": "json_schema", "json_schema": {"name": "place", "schema": SCHEMA}}
    answer = chat.whole(user("Where?"), response_format=form, logprobs=True, extra_body=NO_THINKING)
    assert text(answer) == answer.content
    assert json.loads(answer.content)["city"] == "東京 🗼"
    assert any("\N{REPLACEMENT CHARACTER}" in entry.token for entry in answer.logprobs), "no character was cut"


@pytest.mark.parametrize("asked", [1, 5, 20])
def test_alternatives_are_the_likeliest_tokens(chat: Chat, asked: int) -> None:
    answer = chat.whole(user("Hello"), logprobs=True, top_logprobs=asked, max_tokens=40)
    for entry in answer.logprobs:
        values = [other.logprob for other in entry.top_logprobs]
        assert len(values) == asked
        assert values == sorted(values, reverse=True)
        assert sum(map(math.exp, values)) <= 1 + 1e-4
        assert len({bytes(other.bytes) for other in entry.top_logprobs}) == asked
        assert entry.logprob <= values[0]


def test_temperature_zero_takes_the_likeliest_token(chat: Chat) -> None:
    answer = chat.whole(user("Hello"), logprobs=True, top_logprobs=2, temperature=0)
    assert answer.logprobs
    for entry in answer.logprobs:
        assert (entry.token, entry.logprob) == (entry.top_logprobs[0].token, entry.top_logprobs[0].logprob)


def test_a_stream_has_the_log_probabilities_of_the_whole_answer(chat: Chat) -> None:
    fields: dict[str, Any] = {"logprobs": True, "top_logprobs": 3, "temperature": 0}
    assert chat.stream(user("Hello"), **fields).logprobs == chat.whole(user("Hello"), **fields).logprobs


def test_without_logprobs_there_are_none(chat: Chat) -> None:
    assert chat.whole(user("Hello")).logprobs == []
