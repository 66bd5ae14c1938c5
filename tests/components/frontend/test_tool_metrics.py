"""What an ended answer adds to which counter."""

from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from components.frontend.tally import SentCall, Tally
from components.frontend.tool_metrics import CHOICES, OUTCOMES, STATUSES, ToolMetrics
from toolcall import parse_tools
from toolcall.buckets import BUCKETS, Judge

TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
GOOD = SentCall("ok", "ok")
UNKNOWN = SentCall("undeclared", "UnknownName")
MISMATCH = SentCall("invalid", "SchemaMismatch", checked=True, failed=frozenset({"pattern", "maxLength"}))

Counts = dict[tuple[str, ...], float]


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()


def tally(*sent: SentCall, choice: Any = None, tools: Any = (TOOL,), **fields: int) -> Tally:
    made = Tally(parse_tools(list(tools), choice), Judge(tools), shallow=bool(fields.pop("shallow", 0)))
    made.sent.extend(sent)
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def counts(registry: CollectorRegistry) -> Counts:
    """Every count above zero, by its metric's short name and its labels."""
    return {
        (sample.name.removeprefix("dynamo_glm_tool_").removesuffix("_total"), *sample.labels.values()): sample.value
        for metric in registry.collect()
        for sample in metric.samples
        if sample.name.endswith("_total") and sample.value
    }


def test_a_good_answer_counts_one_request_one_answer_and_its_calls(registry: CollectorRegistry) -> None:
    ToolMetrics(registry).count("glm", tally(GOOD, GOOD), "tool_calls")

    assert counts(registry) == {
        ("requests", "glm", "auto", "tool_calls"): 1,
        ("call_answers", "glm", "auto", "ok"): 1,
        ("calls", "glm", "auto", "ok"): 2,
        ("calls_judged", "glm", "auto", "ok"): 2,
    }


def test_an_answer_with_several_bad_calls_is_bad_once(registry: CollectorRegistry) -> None:
    ToolMetrics(registry).count("glm", tally(GOOD, MISMATCH, UNKNOWN, MISMATCH), "tool_calls")

    found = counts(registry)
    assert {key: value for key, value in found.items() if key[0] == "call_answers"} == {
        ("call_answers", "glm", "auto", "UnknownName"): 1
    }
    assert found["calls_judged", "glm", "auto", "SchemaMismatch"] == 2
    assert found["remainder_checks", "glm", "auto"] == 2
    assert (
        found["remainder_failures", "glm", "auto", "pattern"] == found["remainder_failures", "glm", "auto", "maxLength"]
    )


@pytest.mark.parametrize("outcome", ["length", "cancelled", "error", "stop", "content_filter"])
def test_only_a_finish_reason_of_tool_calls_enters_the_rate(registry: CollectorRegistry, outcome: str) -> None:
    ToolMetrics(registry).count("glm", tally(UNKNOWN, truncated=1, dropped=2, shallow=1), outcome)

    assert counts(registry) == {
        ("requests", "glm", "auto", outcome): 1,
        ("calls", "glm", "auto", "undeclared"): 1,
        ("calls", "glm", "auto", "truncated"): 1,
        ("calls", "glm", "auto", "dropped"): 2,
        ("calls_judged", "glm", "auto", "UnknownName"): 1,
        ("shallow_tags", "glm", "auto"): 1,
    }


def test_a_request_without_tools_counts_for_nothing(registry: CollectorRegistry) -> None:
    ToolMetrics(registry).count("glm", tally(tools=()), "stop")

    assert counts(registry) == {}


@pytest.mark.parametrize(
    ("choice", "label"),
    [
        (None, "auto"),
        ("required", "required"),
        ("none", "none"),
        ({"type": "function", "function": {"name": "f"}}, "named"),
    ],
)
def test_the_label_is_the_mode_of_the_choice(registry: CollectorRegistry, choice: Any, label: str) -> None:
    ToolMetrics(registry).count("glm", tally(choice=choice), "stop")

    assert counts(registry) == {("requests", "glm", label, "stop"): 1}


def test_a_models_counters_are_there_before_its_first_request(registry: CollectorRegistry) -> None:
    ToolMetrics(registry).expect("glm")

    samples = [each for metric in registry.collect() for each in metric.samples if each.name.endswith("_total")]
    assert len(samples) == len(CHOICES) * (2 + len(OUTCOMES) + len(STATUSES) + 2 * len(BUCKETS))
    assert {each.value for each in samples} == {0}


def test_the_documentation_lists_every_counter(registry: CollectorRegistry) -> None:
    ToolMetrics(registry)
    documented = (Path(__file__).parents[3] / "docs" / "toolcall.md").read_text()

    assert [name for metric in registry.collect() if (name := f"`{metric.name}_total`") not in documented] == []
