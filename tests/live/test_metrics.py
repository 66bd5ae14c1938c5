"""What an operator reads at `/metrics` is what the clients got."""

import pytest

from tests.live.chat import Answer, Chat, user
from tests.live.serving import Graph, until

LONG = "Read the whole file before you change a line of it, and say what you found. " * 20
COUNTED = {
    "input": "dynamo_frontend_input_sequence_tokens_sum",
    "cached": "dynamo_frontend_cached_tokens_sum",
    "output": "dynamo_frontend_output_tokens_total",
    "first tokens": "dynamo_frontend_time_to_first_token_seconds_count",
    "requests": "dynamo_frontend_requests_total",
}


def counted(graph: Graph) -> dict[str, float]:
    return {name: graph.metric(metric) for name, metric in COUNTED.items()}


def difference(before: dict[str, float], after: dict[str, float]) -> dict[str, float]:
    return {name: after[name] - before[name] for name in COUNTED}


def used(answer: Answer) -> tuple[int, int, int]:
    assert answer.usage is not None
    assert answer.usage.prompt_tokens_details is not None
    cached = answer.usage.prompt_tokens_details.cached_tokens or 0
    return answer.usage.prompt_tokens, cached, answer.usage.completion_tokens


@pytest.mark.parametrize("stream", [False, True])
def test_tokens_are_counted(graph: Graph, chat: Chat, stream: bool) -> None:
    fields = {"stream_options": {"include_usage": True}} if stream else {}

    def counted_with_a_cached_prompt() -> bool:
        before = counted(graph)
        prompt, cached, written = used((chat.stream if stream else chat.whole)(user(f"{stream} {LONG}"), **fields))
        expected = {"input": prompt, "cached": cached, "output": written, "first tokens": 1, "requests": 1}
        until(lambda: difference(before, counted(graph)) == expected, f"counted: {expected}")
        return cached > 0

    until(counted_with_a_cached_prompt, "a prompt seen before is found")


def test_the_model_and_its_context_are_shown(graph: Graph) -> None:
    assert graph.metric("dynamo_frontend_model_context_length", model=graph.model) == 262_144
    assert graph.metric("dynamo_frontend_model_ready", model=graph.model) == 1
