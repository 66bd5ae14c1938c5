"""The router's books as Prometheus gauges, read when they are scraped."""

from collections.abc import Iterable, Iterator

from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from components.frontend.health import now_ms
from components.frontend.placing import Placing
from components.frontend.router_metrics import PREFIX


class RouterGauges(Collector):
    """Collects the books of all models.

    Scrapes come on a thread of their own, so books are copied before they are read.

    Args:
        placings: The placings of all models.
    """

    def __init__(self, placings: Iterable[Placing]) -> None:
        self._placings = placings

    def collect(self) -> Iterator[Metric]:
        """Yield the gauges."""
        families = {
            name: GaugeMetricFamily(f"{PREFIX}_{name}", help_, labels=labels) for name, help_, labels in _FAMILIES
        }
        for placing in self._placings:
            _read(placing, families)
        yield from families.values()


_RANK = ("model", "worker", "rank")
_FAMILIES = (
    ("rank_waiting_tokens", "New tokens placed on a prefill rank whose first token has not come", _RANK),
    ("rank_work_seconds", "Compute placed on a prefill rank lately; half of it fades in an hour", _RANK),
    ("rank_resident_tokens", "Tokens of sessions that a prefill rank holds, by the router's own book", _RANK),
    ("rank_imbalance", "Busiest prefill rank's work over the mean's; 1 is even", ("model",)),
    ("decode_requests", "Requests placed on a decode engine and not finished", _RANK),
    ("workers_excluded", "Workers that are out although they are in discovery", ("model",)),
    ("sessions", "Sessions whose places are known", ("model",)),
)


def _read(placing: Placing, families: dict[str, GaugeMetricFamily]) -> None:
    router, model, now = placing.router, placing.model, now_ms()
    work: list[float] = []
    for rank, book in list(router.prefill.items()):
        labels = (model, str(rank.worker_id), str(rank.dp_rank))
        work.append(book.work.at(now))
        families["rank_waiting_tokens"].add_metric(labels, book.waiting_tokens)
        families["rank_work_seconds"].add_metric(labels, work[-1] / 1e3)
        families["rank_resident_tokens"].add_metric(labels, book.residents.tokens)
    for rank, decoder in list(router.decode.items()):
        families["decode_requests"].add_metric((model, str(rank.worker_id), str(rank.dp_rank)), decoder.requests)
    mean = sum(work) / len(work) if work else 0.0
    families["rank_imbalance"].add_metric((model,), max(work) / mean if mean else 1.0)
    families["workers_excluded"].add_metric((model,), len(placing.roster.health.excluded) if placing.roster else 0)
    families["sessions"].add_metric((model,), len(router.sessions))
