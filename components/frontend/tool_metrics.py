"""Prometheus counters of tool calls: how many there are, and what they are worth.

Labels are the model and the request's tool choice, and one more with a few fixed values; never a tool's name or a path.
"""

from prometheus_client import CollectorRegistry, Counter

from components.frontend.tally import Tally
from toolcall.buckets import BUCKETS, answer_bucket

PREFIX = "dynamo_glm_tool"
"""Not `dynamo_frontend`, so that no name can clash with one that Dynamo's own frontend gets."""

CHOICES = ("auto", "required", "named", "none")
OUTCOMES = ("tool_calls", "stop", "length", "content_filter", "cancelled", "error")
STATUSES = ("ok", "undeclared", "invalid", "recovered", "truncated", "dropped")


class ToolMetrics:
    """Counts answers to requests with tools; each exactly once, however it ended.

    Args:
        registry: Where the counters are registered.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        def counter(name: str, help_: str, *label: str) -> Counter:
            return Counter(f"{PREFIX}_{name}", help_, ("model", "tool_choice", *label), registry=registry)

        self._requests = counter("requests", "Requests with tools, by how their answer ended", "outcome")
        self._answers = counter("call_answers", "Answers that finished with tool_calls, by their worst call", "bucket")
        self._judged = counter("calls_judged", "Tool calls sent to clients, as OpenRouter judges each", "bucket")
        self._calls = counter("calls", "Tool calls the model wrote, by what became of them", "status")
        self._checks = counter("remainder_checks", "Calls checked for keywords that their tag leaves open")
        self._failures = counter("remainder_failures", "Calls that failed such a check, by keyword", "keyword")
        self._shallow = counter("shallow_tags", "Requests whose tag was too large to compile and fell back to shallow")

    def expect(self, model: str) -> None:
        """Export a model's counters from now on, at zero, so that a rate over them is never without data."""
        for choice in CHOICES:
            for counter in (self._checks, self._shallow):
                counter.labels(model, choice)
            for outcome in OUTCOMES:
                self._requests.labels(model, choice, outcome)
            for status in STATUSES:
                self._calls.labels(model, choice, status)
            for bucket in BUCKETS:
                self._answers.labels(model, choice, bucket)
                self._judged.labels(model, choice, bucket)

    def count(self, model: str, tally: Tally, outcome: str) -> None:
        """Count an answer that has ended; nothing for a request without tools.

        Args:
            model: The served model's name.
            tally: The answer's calls.
            outcome: The answer's finish reason, or `cancelled` or `error` where it has none.
        """
        if not tally.offered:
            return
        labels = (model, tally.tool_choice)
        self._requests.labels(*labels, outcome).inc()
        self._shallow.labels(*labels).inc(tally.shallow)
        self._calls.labels(*labels, "truncated").inc(tally.truncated)
        self._calls.labels(*labels, "dropped").inc(tally.dropped)
        if outcome == "tool_calls":
            self._answers.labels(*labels, answer_bucket(call.bucket for call in tally.sent)).inc()
        for call in tally.sent:
            self._calls.labels(*labels, call.status).inc()
            self._judged.labels(*labels, call.bucket).inc()
            self._checks.labels(*labels).inc(call.checked)
            for keyword in call.failed:
                self._failures.labels(*labels, keyword).inc()
