"""The whole request path over HTTP, with a worker that says what it is told."""

import json
import time
from typing import Any

import httpx2
import pytest

from components.frontend.model import ServedModel

from .conftest import Endpoint

TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"],
        },
    },
}
CALL = "<tool_call>get_weather<arg_key>city</arg_key><arg_value>Lima</arg_value></tool_call>"


def message(answer: httpx2.Response) -> dict[str, Any]:
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()["choices"][0]["message"]
    return found


def joined(chunks: list[dict[str, Any]], field: str) -> str:
    return "".join(chunk["choices"][0]["delta"].get(field) or "" for chunk in chunks if chunk["choices"])


def finish_reasons(chunks: list[dict[str, Any]]) -> list[str]:
    return [reason for chunk in chunks if chunk["choices"] and (reason := chunk["choices"][0]["finish_reason"])]


def test_an_answer_comes_back_whole_and_streamed_alike(endpoint: Endpoint) -> None:
    text = "Grüße, 世界 🙂 & <b>bold</b>"

    assert message(endpoint.say(text))["content"] == text
    assert joined(endpoint.chunks(text), "content") == text


def test_no_chunk_holds_half_a_character(endpoint: Endpoint) -> None:
    chunks = endpoint.chunks("🙂🙂🙂")

    assert all("\N{REPLACEMENT CHARACTER}" not in json.dumps(chunk, ensure_ascii=False) for chunk in chunks)
    assert joined(chunks, "content") == "🙂🙂🙂"


def test_the_first_chunk_names_the_role_and_the_last_the_finish_reason(endpoint: Endpoint) -> None:
    chunks = endpoint.chunks("hello there")

    assert chunks[0]["choices"][0]["delta"]["role"] == "assistant"
    assert finish_reasons(chunks) == ["stop"]
    assert chunks[-1]["choices"][0]["finish_reason"] == "stop"


def test_usage_closes_a_stream_that_asks_for_it(endpoint: Endpoint) -> None:
    text = "<think>a</think>b"
    asked = {"stream_options": {"include_usage": True}, "chat_template_kwargs": {}}

    closing = endpoint.chunks(text.removeprefix("<think>"), **asked)[-1]

    assert closing["choices"] == []
    assert closing["usage"]["completion_tokens"] == 3
    assert closing["usage"]["completion_tokens_details"] == {"reasoning_tokens": 2}
    assert closing["usage"]["prompt_tokens_details"] == {"cached_tokens": 0}
    assert closing["usage"]["total_tokens"] == closing["usage"]["prompt_tokens"] + 3


def test_a_stream_carries_no_usage_unasked(endpoint: Endpoint) -> None:
    assert all("usage" not in chunk or chunk["usage"] is None for chunk in endpoint.chunks("a b"))


def test_reasoning_is_told_apart(endpoint: Endpoint) -> None:
    answer = message(endpoint.say("I think.</think>I say.", chat_template_kwargs={}))

    assert (answer["reasoning_content"], answer["content"]) == ("I think.", "I say.")


def test_reasoning_effort_none_opens_no_reasoning(endpoint: Endpoint) -> None:
    answer = message(endpoint.say("I say.", chat_template_kwargs={}, reasoning_effort="none"))

    assert answer["content"] == "I say."
    assert answer.get("reasoning_content") is None


@pytest.mark.parametrize("stop", ["three", ["nothing", "three"], " three f"])
def test_a_stop_string_ends_the_answer_before_it(endpoint: Endpoint, stop: Any) -> None:
    text = "one two three four"
    expected = text[: text.find(stop if isinstance(stop, str) else "three")]

    answer = endpoint.say(text, {"finish": "length"}, stop=stop).json()["choices"][0]
    chunks = endpoint.chunks(text, {"finish": "length"}, stop=stop)

    assert (answer["message"]["content"], answer["finish_reason"]) == (expected, "stop")
    assert (joined(chunks, "content"), finish_reasons(chunks)) == (expected, ["stop"])


def test_the_token_limit_is_reported(endpoint: Endpoint) -> None:
    assert endpoint.say("cut", {"finish": "length"}).json()["choices"][0]["finish_reason"] == "length"


def test_a_call_comes_back_whole_and_streamed_alike(endpoint: Endpoint) -> None:
    whole = endpoint.say(f"Let me see. {CALL}", tools=[TOOL])
    chunks = endpoint.chunks(f"Let me see. {CALL}", tools=[TOOL])

    call = message(whole)["tool_calls"][0]
    assert call["function"]["name"] == "get_weather"
    assert json.loads(call["function"]["arguments"]) == {"city": "Lima"}
    assert whole.json()["choices"][0]["finish_reason"] == "tool_calls"
    deltas = [call for chunk in chunks for call in chunk["choices"][0]["delta"].get("tool_calls") or []]
    assert [delta["function"]["name"] for delta in deltas if delta["function"].get("name")] == ["get_weather"]
    assert json.loads("".join(delta["function"]["arguments"] for delta in deltas)) == {"city": "Lima"}
    assert {delta["index"] for delta in deltas} == {0}
    assert finish_reasons(chunks) == ["tool_calls"]


def test_parallel_calls_have_ids_of_their_own(endpoint: Endpoint) -> None:
    calls = message(endpoint.say(CALL + CALL, tools=[TOOL]))["tool_calls"]

    assert len({call["id"] for call in calls}) == 2


def test_a_call_cut_by_the_limit_is_no_call_of_a_whole_answer(endpoint: Endpoint) -> None:
    answer = endpoint.say(CALL[:60], {"finish": "length"}, tools=[TOOL])

    assert not message(answer).get("tool_calls")
    assert answer.json()["choices"][0]["finish_reason"] == "length"


def test_tools_constrain_what_is_sampled(endpoint: Endpoint) -> None:
    asked = json.loads(message(endpoint.say("", {"echo": "sampling_options"}, tools=[TOOL]))["content"])

    assert asked["guided_decoding"]["structural_tag"]["type"] == "structural_tag"
    assert "get_weather" in json.dumps(asked)


def test_sampling_parameters_reach_the_worker(endpoint: Endpoint) -> None:
    sent = {"temperature": 0.5, "top_p": 0.25, "top_k": 7, "min_p": 0.125, "seed": 11, "presence_penalty": 0.5}

    asked = json.loads(message(endpoint.say("", {"echo": "sampling_options"}, **sent))["content"])

    assert {name: asked[name] for name in sent} == sent


def test_the_limit_reaches_the_worker_and_defaults_to_the_rest_of_the_context(
    endpoint: Endpoint, model: ServedModel
) -> None:
    limited = json.loads(message(endpoint.say("", {"echo": "stop_conditions"}, max_completion_tokens=9))["content"])
    answer = endpoint.say("", {"echo": "stop_conditions"})
    unlimited = json.loads(message(answer)["content"])

    assert limited["max_tokens"] == 9
    assert unlimited["max_tokens"] == model.context_length - answer.json()["usage"]["prompt_tokens"]
    assert set(unlimited["stop_token_ids_hidden"]) == set(model.eos_token_ids)


def test_log_probabilities_are_reported_by_the_token(endpoint: Endpoint) -> None:
    answer = endpoint.say("é x", {"logprob": -0.5}, logprobs=True, top_logprobs=1).json()
    entries = answer["choices"][0]["logprobs"]["content"]

    assert b"".join(bytes(entry["bytes"]) for entry in entries).decode() == "é x"
    assert {entry["logprob"] for entry in entries} == {-0.5}
    assert all(len(entry["top_logprobs"]) == 1 for entry in entries)
    assert len(entries) == answer["usage"]["completion_tokens"]


def test_streamed_log_probabilities_lose_no_token(endpoint: Endpoint) -> None:
    chunks = endpoint.chunks("one two three", {"logprob": -0.25}, logprobs=True)
    entries = [entry for chunk in chunks for entry in (chunk["choices"][0].get("logprobs") or {}).get("content") or []]

    assert b"".join(bytes(entry["bytes"]) for entry in entries) == b"one two three"


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({"n": 2}, "n: 2 choices were asked for, 1 is served"),
        ({"logit_bias": {"5": 1}}, "logit_bias: is not supported"),
        (
            {
                "messages": [
                    {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://x/y.png"}}]}
                ]
            },
            "messages[0].content[0]",
        ),
        ({"messages": [{"role": "user", "content": "word " * 270_000}]}, "the model's context is 262144"),
        ({"tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "array"}}}]}, "tools[0]"),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {"$ref": "#/x"}}}},
            "response_format.json",
        ),
    ],
)
def test_a_bad_request_is_a_400_that_says_why(endpoint: Endpoint, body: dict[str, Any], why: str, stream: bool) -> None:
    answer = endpoint.post({"messages": [{"role": "user", "content": "{}"}], "stream": stream, **body})

    assert answer.status_code == 400, answer.text
    assert why in answer.json()["message"]


def test_a_pin_to_an_unknown_worker_is_a_400_that_says_so(endpoint: Endpoint) -> None:
    answer = endpoint.say("hello", nvext={"decode_worker_id": 12345, "dp_rank": 0})

    assert answer.status_code == 400, answer.text
    assert "12345" in answer.text


def test_an_engines_refusal_is_no_success(endpoint: Endpoint) -> None:
    answer = endpoint.say("", {"error": "this grammar cannot be compiled"})

    assert answer.status_code == 400
    assert "this grammar cannot be compiled" in answer.text


def test_an_error_in_mid_stream_is_told_and_not_taken_for_an_end(endpoint: Endpoint) -> None:
    answer = endpoint.say("some words", {"error": "the engine broke"}, stream=True)

    assert '"error"' in answer.text
    assert '"finish_reason":"stop"' not in answer.text


def test_a_client_that_leaves_stops_the_worker(endpoint: Endpoint) -> None:
    content = json.dumps({"say": "on and on ", "endless": True})
    body = {"model": "glm", "stream": True, "messages": [{"role": "user", "content": content}]}
    with httpx2.stream("POST", f"{endpoint.url}/v1/chat/completions", json=body, timeout=30) as answer:
        next(answer.iter_lines())

    deadline = time.monotonic() + 10
    while 'inflight_requests{model="glm"} 0' not in (metrics := endpoint.metrics()):
        assert time.monotonic() < deadline, metrics
    assert message(endpoint.say("still here"))["content"] == "still here"


def test_a_stop_string_stops_the_worker(endpoint: Endpoint) -> None:
    answer = endpoint.say("on and STOP ", {"endless": True}, stop="STOP")

    assert message(answer)["content"] == "on and "
    assert message(endpoint.say("still here"))["content"] == "still here"


def test_outputs_of_several_tokens_are_taken_as_they_come(endpoint: Endpoint) -> None:
    text = "one two three four five six seven eight"

    assert joined(endpoint.chunks(text, {"chunk": 5}), "content") == text


def test_the_anthropic_and_responses_routes_reach_the_engine(endpoint: Endpoint) -> None:
    said = json.dumps({"say": "I think.</think>I say."})

    anthropic = endpoint.post({"max_tokens": 50, "messages": [{"role": "user", "content": said}]}, "messages").json()
    responses = endpoint.post({"input": said}, "responses").json()

    assert [part["type"] for part in anthropic["content"]] == ["thinking", "text"]
    assert anthropic["usage"]["output_tokens"] == responses["usage"]["output_tokens"] > 0
    assert "I say." in json.dumps(responses["output"])


def metric(endpoint: Endpoint, name: str) -> float:
    lines = endpoint.metrics().split("\n")
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith((f"{name} ", f"{name}{{")))


@pytest.mark.parametrize("stream", [False, True])
def test_dynamos_own_token_metrics_are_kept(endpoint: Endpoint, stream: bool) -> None:
    names = ["output_tokens_total", "time_to_first_token_seconds_count", "input_sequence_tokens_sum"]
    before = [metric(endpoint, f"dynamo_frontend_{name}") for name in names]

    usage = endpoint.say("one two three").json()["usage"]
    if stream:
        endpoint.chunks("one two three")

    times = 2 if stream else 1
    after = [metric(endpoint, f"dynamo_frontend_{name}") for name in names]
    grown = [new - old for new, old in zip(after, before, strict=True)]
    assert grown == [times * usage["completion_tokens"], times, times * usage["prompt_tokens"]]


def test_the_anthropic_route_names_the_stop_sequence_that_matched(endpoint: Endpoint) -> None:
    said = json.dumps({"say": "</think>one STOP two"})
    body = {"max_tokens": 50, "stop_sequences": ["STOP"], "messages": [{"role": "user", "content": said}]}

    answer = endpoint.post(body, "messages").json()

    assert answer["content"][-1]["text"] == "one "
    assert (answer["stop_reason"], answer["stop_sequence"]) == ("stop_sequence", "STOP")
