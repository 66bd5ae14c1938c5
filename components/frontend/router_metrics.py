"""Prometheus metrics of the router: where requests go and why, and whether its figures come true.

Labels are the model and a few fixed values; a worker is its instance id. Never a session or anything a client says.
"""

from prometheus_client import CollectorRegistry, Counter, Histogram

from components.frontend.placed import Placed

PREFIX = "dynamo_glm_router"

TIERS = ("device", "host", "none")
FIRST_TOKEN_S = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 25.0, 60.0)
DECISION_S = (0.0002, 0.0005, 0.001, 0.002, 0.003, 0.004, 0.006, 0.01, 0.02, 0.05, 0.1)


class RouterMetrics:
    """Counts decisions and what became of them.

    Args:
        registry: Where the metrics are registered.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        def counter(name: str, help_: str, *labels: str) -> Counter:
            return Counter(f"{PREFIX}_{name}", help_, ("model", *labels), registry=registry)

        def histogram(name: str, help_: str, buckets: tuple[float, ...]) -> Histogram:
            return Histogram(f"{PREFIX}_{name}", help_, ("model",), registry=registry, buckets=buckets)

        self._decisions = counter("decisions", "Placements, by side and reason", "side", "reason")
        self._identities = counter("identities", "Requests, by what told their session", "rung")
        self._overlap = counter("prompt_tokens", "Prompt tokens, by where the chosen rank has them", "tier")
        self._again = counter("placed_again", "Requests placed a second time, before their first token", "outcome")
        self._exclusions = counter("exclusions", "Workers put out although they are in discovery", "why")
        self._expected = histogram(
            "expected_first_token_seconds", "Time to first token as the router expects it", FIRST_TOKEN_S
        )
        self._first_token = histogram(
            "first_token_seconds", "Time from the placement to the first token", FIRST_TOKEN_S
        )
        self._decision = histogram(
            "decision_seconds", "Time that a placement takes, with the look-up of what is cached", DECISION_S
        )

    def expect(self, model: str) -> None:
        """Export a model's metrics from now on, at zero, so that a rate over them is never without data."""
        for tier in TIERS:
            self._overlap.labels(model, tier)
        for outcome in ("served", "failed"):
            self._again.labels(model, outcome)
        for why in ("named", "unreachable", "failing"):
            self._exclusions.labels(model, why)
        for histogram in (self._expected, self._first_token, self._decision):
            histogram.labels(model)

    def identified(self, model: str, rung: str) -> None:
        """Count what told the session of a request."""
        self._identities.labels(model, rung).inc()

    def placed(self, model: str, placed: Placed) -> None:
        """Count a decision."""
        decision, overlap = placed.decision, placed.overlap
        self._decisions.labels(model, "prefill", decision.prefill.reason).inc()
        self._decisions.labels(model, "decode", decision.decode.reason).inc()
        self._decision.labels(model).observe(placed.took_ms / 1e3)
        if decision.prefill.rank is None:
            return
        for tier, tokens in zip(TIERS, (overlap.device, overlap.host, placed.new_tokens), strict=True):
            self._overlap.labels(model, tier).inc(tokens)

    def first_token(self, model: str, placed: Placed) -> None:
        """Compare the first token's time with what was expected; only where the router chose the rank."""
        if placed.decision.prefill.rank is not None and placed.first_token_ms is not None:
            self._expected.labels(model).observe(placed.expected_ms / 1e3)
            self._first_token.labels(model).observe(placed.first_token_ms / 1e3)

    def placed_again(self, model: str, *, served: bool) -> None:
        """Count a request that was placed a second time."""
        self._again.labels(model, "served" if served else "failed").inc()

    def excluded(self, model: str, why: str) -> None:
        """Count a worker that was put out."""
        self._exclusions.labels(model, why).inc()
