"""Data-parallel ranks: who takes requests for them, and the ports that are counted up from rank 0.

A request names its rank, and vLLM obeys it in every mode of load balancing. What internal balancing cannot do is bring
the KV events and step metrics of another machine's ranks to the process that takes requests: Dynamo reads them on
loopback (`setup_kv_event_publisher` and `setup_fpm_relay` of dynamo.vllm 1.6.1).
"""

from collections.abc import Iterator

from graphs.checks.check import Check
from graphs.checks.engines.engine import Engine
from graphs.config import Config

# Variables that each process of a service would share.
_PORTS = ("VLLM_NIXL_SIDE_CHANNEL_PORT", "DYN_FORWARDPASS_METRIC_PORT", "DYN_SYSTEM_PORT", "DYN_TCP_RPC_PORT")
_LOOPBACK = (None, "127.0.0.1", "localhost", "::1")


def ranks(config: Config, found: list[Engine]) -> Iterator[Check]:
    """Every rank is one process's, and reachable by the router."""
    for engine in found:
        yield from _modes(engine)
        if engine.settings.local_ranks < engine.settings.ranks:
            yield from _over_machines(engine, spans_machines=config.runtime.spans_machines)
        yield from _shared_ports(engine)
        yield from _events(engine)


def _modes(engine: Engine) -> Iterator[Check]:
    settings = engine.settings
    if settings.data_parallel_hybrid_lb and settings.data_parallel_external_lb:
        yield engine.refuse("data-parallel-external-lb", "vLLM refuses it beside hybrid-lb", "keep one of them")
    if settings.data_parallel_hybrid_lb and settings.data_parallel_size_local is None:
        yield engine.refuse(
            "data-parallel-hybrid-lb", "it needs data-parallel-size-local", "say how many ranks are here"
        )
    if settings.data_parallel_external_lb and settings.data_parallel_rank is None:
        yield engine.refuse("data-parallel-external-lb", "it needs data-parallel-rank", "say which rank this is")
    last = (settings.data_parallel_start_rank or settings.data_parallel_rank or 0) + settings.local_ranks
    if last > settings.ranks:
        found = f"ranks up to {last - 1} are asked for here, and data-parallel-size is {settings.ranks}"
        yield engine.refuse("data-parallel-size", found, "lower the ranks of this process, or its first rank")


def _over_machines(engine: Engine, *, spans_machines: bool) -> Iterator[Check]:
    settings = engine.settings
    here = f"{settings.local_ranks} of {settings.ranks} ranks are here"
    if not (
        settings.data_parallel_hybrid_lb
        or settings.data_parallel_external_lb
        or settings.data_parallel_rank is not None
    ):
        found = f"{here}, and without it the router would hear nothing of the others"
        yield engine.refuse("data-parallel-hybrid-lb", found, "set it to true")
    if settings.data_parallel_address in _LOOPBACK:
        yield engine.refuse(
            "data-parallel-address", f"{here}; the others look for rank 0 there", "name rank 0's machine"
        )
    if settings.data_parallel_rpc_port is None:
        found = f"{here}, and all must know one port"
        yield engine.refuse("data-parallel-rpc-port", found, "set one that is free on rank 0's machine, such as 13345")
    if not spans_machines:
        mend = "set Runtime.discovery-backend: etcd and etcd-endpoints"
        yield engine.refuse("data-parallel-size-local", f"{here}, and discovery is a private folder", mend)
    if engine.config.args.workers > 1:
        found = f"{engine.config.args.workers} processes would take the same ranks"
        yield engine.refuse("ServiceArgs.workers", found, "set it to 1, and start one on each machine")


def _shared_ports(engine: Engine) -> Iterator[Check]:
    if engine.config.args.workers == 1:
        return
    for name in _PORTS:
        if name in engine.config.args.envs:
            found = f"{engine.config.args.workers} processes would share this port"
            yield engine.refuse(f"ServiceArgs.envs.{name}", found, "leave it out: each process is given its own")
    if (engine.settings.kv_events_config or {}).get("endpoint"):
        found = f"{engine.config.args.workers} processes would publish on one port"
        yield engine.refuse("kv-events-config", found, "set kv-events: true instead: each rank is given its own port")


def _events(engine: Engine) -> Iterator[Check]:
    if engine.settings.kv_events and engine.settings.enable_prefix_caching is False:
        yield engine.refuse("kv-events", "without prefix caching there are none", "set enable-prefix-caching: true")
