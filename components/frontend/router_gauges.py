"""The router's books as Prometheus gauges, read when they are scraped."""

from collections.abc import Iterable, Iterator

from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from components.frontend.health import now_ms
from components.frontend.placing import Placing
from components.frontend.router_metrics import PREFIX
from router.fit import FITTED, Fit


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
    ("rank_others_requests", "Requests on a prefill rank that no frontend tells of, by what it publishes", _RANK),
    ("rank_others_work_seconds", "Their compute lately, by what it publishes; half of it fades in an hour", _RANK),
    ("rank_imbalance", "Busiest prefill rank's work over the mean's; 1 is even", ("model",)),
    ("decode_requests", "Requests placed on a decode engine and not finished", _RANK),
    ("decode_others_requests", "Requests on a decode engine that no frontend tells of", _RANK),
    ("peers_in_flight", "Requests that other frontends tell of and that have not ended", ("model",)),
    ("workers_excluded", "Workers that are out although they are in discovery", ("model",)),
    ("sessions", "Sessions whose places are known", ("model",)),
    ("price", "Prices in force, each in the unit that ends its name, as fitted to what was served", ("model", "price")),
)


def _read(placing: Placing, families: dict[str, GaugeMetricFamily]) -> None:
    router, model, now = placing.router, placing.model, now_ms()
    work: list[float] = []
    costs = router.costs
    for rank, book in list(router.prefill.items()):
        labels = (model, str(rank.worker_id), str(rank.dp_rank))
        own, others = book.work.at(now), book.foreign_work.at(now)
        work.append(own + others)
        families["rank_waiting_tokens"].add_metric(labels, book.waiting_tokens)
        families["rank_work_seconds"].add_metric(labels, costs.share_ms(own) / 1e3)
        families["rank_resident_tokens"].add_metric(labels, book.residents.tokens)
        families["rank_others_requests"].add_metric(labels, book.others.at(now).requests)
        families["rank_others_work_seconds"].add_metric(labels, costs.share_ms(others) / 1e3)
    for rank, decoder in list(router.decode.items()):
        labels = (model, str(rank.worker_id), str(rank.dp_rank))
        families["decode_requests"].add_metric(labels, decoder.requests)
        families["decode_others_requests"].add_metric(labels, decoder.others.at(now).answering)
    families["peers_in_flight"].add_metric((model,), placing.peers.in_flight)
    mean = sum(work) / len(work) if work else 0.0
    families["rank_imbalance"].add_metric((model,), max(work) / mean if mean else 1.0)
    families["workers_excluded"].add_metric((model,), len(placing.roster.health.excluded) if placing.roster else 0)
    families["sessions"].add_metric((model,), len(router.sessions))
    for price in FITTED if isinstance(router.prices, Fit) else ():
        families["price"].add_metric((model, price), getattr(costs, price))
