"""Prometheus histograms of where requests spend their time until the first token."""

from prometheus_client import CollectorRegistry, Histogram

from components.frontend.timeline import PHASES, Timeline

NAME = "dynamo_glm_request_phase_seconds"
SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 25.0, 60.0)


class PhaseMetrics:
    """Observes the phases of every answer that finished.

    Args:
        registry: Where the histogram is registered.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        help_ = "Time until the first token, by who had the request and what was done"
        self._phase = Histogram(NAME, help_, ("model", "stage", "phase"), registry=registry, buckets=SECONDS)

    def expect(self, model: str) -> None:
        """Export a model's histograms from now on, empty, so that a rate over them is never without data."""
        for stage, phases in PHASES.items():
            for phase in phases:
                self._phase.labels(model, stage, phase)

    def observe(self, model: str, timeline: Timeline) -> None:
        """Observe one answer's phases."""
        for stage, phase, took_ms in timeline.phases():
            self._phase.labels(model, stage, phase).observe(took_ms / 1e3)
