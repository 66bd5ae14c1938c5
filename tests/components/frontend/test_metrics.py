"""The frontend's counters on Dynamo's own `/metrics`, after real answers over HTTP."""

import json
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import httpx2
import pytest
from prometheus_client.parser import text_string_to_metric_families

from .conftest import Endpoint

PREFIX = "dynamo_glm_tool_"
TOOL = {
    "type": "function",
    "function": {
        "name": "find",
        "parameters": {
            "type": "object",
            "properties": {"zip": {"type": "string", "not": {"pattern": "^L"}}},
            "required": ["zip"],
        },
    },
}
CHOICES: dict[str, Any] = {
    "auto": "auto",
    "required": "required",
    "named": {"type": "function", "function": {"name": "find"}},
}
Counts = Counter[tuple[str, ...]]


def call(name: str = "find", value: str = "12345") -> str:
    return f"<tool_call>{name}<arg_key>zip</arg_key><arg_value>{value}</arg_value></tool_call>"


def scraped(endpoint: Endpoint) -> Counts:
    """Every count of ours, by its short name and its labels after the model's, in the order of the alphabet."""
    found: Counts = Counter()
    for family in text_string_to_metric_families(endpoint.metrics()):
        for sample in family.samples:
            if sample.name.startswith(PREFIX):
                assert sample.labels.pop("model") == "glm"
                labels = (value for _, value in sorted(sample.labels.items()))
                found[(sample.name.removeprefix(PREFIX).removesuffix("_total"), *labels)] += int(sample.value)
    return found


def grown(endpoint: Endpoint, act: Callable[[], object]) -> dict[tuple[str, ...], int]:
    before = scraped(endpoint)
    act()
    return dict(scraped(endpoint) - before)


@pytest.fixture(params=[False, True], ids=["whole", "streamed"])
def stream(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.mark.parametrize("mode", CHOICES)
def test_a_good_call_is_counted_by_its_mode(endpoint: Endpoint, mode: str, stream: bool) -> None:
    found = grown(
        endpoint, lambda: endpoint.say(call() + call(), tools=[TOOL], tool_choice=CHOICES[mode], stream=stream)
    )

    assert found == {
        ("requests", "tool_calls", mode): 1,
        ("call_answers", "ok", mode): 1,
        ("calls", "ok", mode): 2,
        ("calls_judged", "ok", mode): 2,
        ("remainder_checks", mode): 2,
    }


@pytest.mark.parametrize(
    ("text", "status", "bucket", "remainder"),
    [
        (call("rm_rf"), "undeclared", "UnknownName", {}),
        (
            call(value="Lima"),
            "invalid",
            "SchemaMismatch",
            {("remainder_checks", "auto"): 1, ("remainder_failures", "not", "auto"): 1},
        ),
        (call().removeprefix("<tool_call>"), "recovered", "ok", {("remainder_checks", "auto"): 1}),
    ],
)
def test_a_call_counts_by_what_became_of_it_and_by_what_openrouter_says(
    endpoint: Endpoint, text: str, status: str, *, bucket: str, remainder: dict[tuple[str, ...], int], stream: bool
) -> None:
    found = grown(endpoint, lambda: endpoint.say(text, tools=[TOOL], stream=stream))

    assert found == {
        ("requests", "tool_calls", "auto"): 1,
        ("call_answers", bucket, "auto"): 1,
        ("calls", status, "auto"): 1,
        ("calls_judged", bucket, "auto"): 1,
        **remainder,
    }


def test_a_cut_answer_is_no_part_of_the_rate(endpoint: Endpoint, stream: bool) -> None:
    text = call("rm_rf") + call()[:40]

    found = grown(endpoint, lambda: endpoint.say(text, {"finish": "length"}, tools=[TOOL], stream=stream))

    assert found == {
        ("requests", "length", "auto"): 1,
        ("calls", "undeclared", "auto"): 1,
        ("calls", "truncated", "auto"): 1,
        ("calls_judged", "UnknownName", "auto"): 1,
    }


def test_calls_beyond_the_one_that_is_allowed_are_counted_as_dropped(endpoint: Endpoint) -> None:
    found = grown(endpoint, lambda: endpoint.say(call() * 3, tools=[TOOL], parallel_tool_calls=False))

    assert (found["calls", "ok", "auto"], found["calls", "dropped", "auto"]) == (1, 2)


@pytest.mark.parametrize(
    ("body", "told", "expected"),
    [
        ({"tools": [TOOL]}, {}, {("requests", "stop", "auto"): 1}),
        ({"tools": [TOOL], "tool_choice": "none"}, {}, {("requests", "stop", "none"): 1}),
        ({"tools": [TOOL]}, {"error": "the engine broke"}, {("requests", "error", "auto"): 1}),
        ({"tools": [TOOL], "n": 2}, {}, {}),
        ({}, {}, {}),
    ],
)
def test_an_answer_without_a_call_counts_as_a_request_if_it_has_tools(
    endpoint: Endpoint,
    body: dict[str, Any],
    told: dict[str, Any],
    expected: dict[tuple[str, ...], int],
    *,
    stream: bool,
) -> None:
    assert grown(endpoint, lambda: endpoint.say("Hello there.", told, stream=stream, **body)) == expected


def test_a_cancelled_answer_counts_once_with_the_calls_that_left_before(endpoint: Endpoint) -> None:
    content = json.dumps({"say": call() + " and on ", "endless": True})
    thinking = {"chat_template_kwargs": {"enable_thinking": False}}
    body = {"model": "glm", "stream": True, "tools": [TOOL], "messages": [{"role": "user", "content": content}]}
    before = scraped(endpoint)
    with httpx2.stream("POST", f"{endpoint.url}/v1/chat/completions", json={**body, **thinking}, timeout=30) as answer:
        next(line for line in answer.iter_lines() if "12345" in line)

    deadline = time.monotonic() + 10
    while not (found := scraped(endpoint) - before)["requests", "cancelled", "auto"]:
        assert time.monotonic() < deadline, found
    assert {key for key in found if key[0] == "requests"} == {("requests", "cancelled", "auto")}
    assert found["requests", "cancelled", "auto"] == 1
    assert found["calls", "ok", "auto"] >= 1


def test_our_series_stand_beside_dynamos_and_hold_no_name_of_a_tool(endpoint: Endpoint) -> None:
    endpoint.say(call("rm_rf"), tools=[TOOL])

    text = endpoint.metrics()

    names = [family.name for family in text_string_to_metric_families(text)]
    assert len(names) == len(set(names))
    assert {"dynamo_frontend_requests", f"{PREFIX}calls"} <= set(names)
    assert "rm_rf" not in text
    assert f"{PREFIX}calls_created" not in text
