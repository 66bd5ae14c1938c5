"""The frontend's own metrics, beside Dynamo's on its `/metrics`."""

from collections.abc import Iterable

from dynamo.common.utils.prometheus import register_engine_metrics_callback
from dynamo.runtime import Endpoint
from prometheus_client import CollectorRegistry, disable_created_metrics

from components.frontend.phase_metrics import PhaseMetrics
from components.frontend.placing import Placing
from components.frontend.router_gauges import RouterGauges
from components.frontend.router_metrics import RouterMetrics
from components.frontend.tool_metrics import ToolMetrics


class Metrics:
    """All metrics of one frontend process, in one registry."""

    def __init__(self) -> None:
        # A process-wide switch, the only one there is: a `_created` series beside each counter would double them.
        disable_created_metrics()  # type: ignore[no-untyped-call]  # The library's own function lacks an annotation.
        self.registry = CollectorRegistry()
        self.tools = ToolMetrics(self.registry)
        self.router = RouterMetrics(self.registry)
        self.phases = PhaseMetrics(self.registry)

    def watch(self, placings: Iterable[Placing]) -> None:
        """Export the books of these placings, as they are at each scrape."""
        self.registry.register(RouterGauges(placings))

    def expose(self, endpoint: Endpoint) -> None:
        """Add the registry to `/metrics` of Dynamo's HTTP server, and to its OTLP export.

        Args:
            endpoint: Any of the frontend's own runtime; it need not be served.
        """
        register_engine_metrics_callback(endpoint, self.registry)
