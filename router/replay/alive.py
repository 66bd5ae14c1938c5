"""Which engines of a modelled graph are alive, as a router is told."""

from router.fleet import Fleet, Worker
from router.replay.cluster import Cluster, Outage

DECODE_ID = 1_000
"""Worker ids of decode engines begin here, those of prefill engines at 0."""


def whole(cluster: Cluster) -> Fleet:
    """Return all engines of a graph."""
    return Fleet(
        tuple(_prefill(cluster, engine) for engine in range(cluster.prefill_engines)),
        tuple(_decode(cluster, engine) for engine in range(cluster.decode_engines)),
    )


def worker_id(outage: Outage) -> int:
    """Return the id of the engine that an outage is of."""
    return outage.engine + (0 if outage.side == "prefill" else DECODE_ID)


def without(fleet: Fleet, outage: Outage) -> Fleet:
    """Return a fleet less the engine that dies.

    Raises:
        ValueError: It is the last one of its side, so that requests have nowhere to go.
    """
    gone = worker_id(outage)
    prefill = tuple(worker for worker in fleet.prefill if worker.worker_id != gone)
    decode = tuple(worker for worker in fleet.decode if worker.worker_id != gone)
    if not (prefill and decode):
        raise ValueError(f"the last {outage.side} engine dies at {outage.at_s:g} s: one must live at any time")
    return Fleet(prefill, decode)


def again(fleet: Fleet, outage: Outage, cluster: Cluster) -> Fleet:
    """Return a fleet with the engine that comes back."""
    if outage.side == "prefill":
        return Fleet((*fleet.prefill, _prefill(cluster, outage.engine)), fleet.decode)
    return Fleet(fleet.prefill, (*fleet.decode, _decode(cluster, outage.engine)))


def _prefill(cluster: Cluster, engine: int) -> Worker:
    return Worker(engine, cluster.prefill_ranks, cluster.rank_kv_tokens)


def _decode(cluster: Cluster, engine: int) -> Worker:
    return Worker(DECODE_ID + engine, 1, cluster.decode_kv_tokens)
