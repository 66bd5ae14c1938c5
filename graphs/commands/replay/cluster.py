"""The graph that a configuration describes, as a replay models it."""

import math
from typing import Any

from graphs.config import Config, ServiceConfig
from graphs.errors import Refusal
from graphs.model import Role, Topology
from router.costs import KV_TOKEN_BYTES, Costs
from router.replay.cluster import Cluster

_BLOCK = 64
"""Tokens in a block where nobody says: vLLM's for GLM-5.3."""


def cluster_of(config: Config, rank_kv_tokens: int | None, host_gib: float | None) -> tuple[Cluster, Costs]:
    """Find the engines, their memories and the prefill budget in a configuration.

    What it does not say is as in `Cluster` and `Costs`: 768K tokens of KV on a prefill rank, 1.5M on a decode engine.

    Args:
        config: Of a graph with one prefill and one decode service.
        rank_kv_tokens: KV of one prefill rank, whatever the configuration says.
        host_gib: Host memory for KV behind all prefill ranks, whatever the configuration says.

    Raises:
        Refusal: A side is missing or spread over several services, or nothing is cached.
    """
    prefill, decode = _service(config, "prefill"), _service(config, "decode")
    ranks, decode_shape = _shape(prefill), _shape(decode)
    standard, prices = Cluster(), Costs()
    every_rank = prefill.args.workers * ranks.data_parallel
    if host_gib is not None and not host_gib < math.inf:
        raise Refusal(f"--host-gib {host_gib}: a size in GiB is needed, such as 512")
    if host_gib is None:
        host_tokens = every_rank * (_tokens(prefill, "num-host-blocks") or 0)
    else:
        host_tokens = int(host_gib * 2**30 / KV_TOKEN_BYTES)
    cluster = Cluster(
        prefill_engines=prefill.args.workers,
        prefill_ranks=ranks.data_parallel,
        rank_gpus=ranks.tensor_parallel,
        rank_kv_tokens=rank_kv_tokens or _tokens(prefill, "num-gpu-blocks-override") or standard.rank_kv_tokens,
        decode_engines=decode.args.workers,
        decode_gpus=decode_shape.gpus,
        decode_kv_tokens=_tokens(decode, "num-gpu-blocks-override", "total-kv-blocks") or standard.decode_kv_tokens,
        decode_slots=_whole(decode, "max-num-seqs") or standard.decode_slots,
        host_tokens=host_tokens,
    )
    budget = _whole(prefill, "max-num-batched-tokens") or prices.budget_tokens
    return cluster, Costs(budget_tokens=budget, host_tokens=host_tokens)


def _service(config: Config, role: Role) -> ServiceConfig:
    found = [service for service in config.services if service.service.role == role]
    if not found:
        raise Refusal(
            f"{config.graph.name} runs no {role} service: a replay needs one, with ServiceArgs.workers above 0"
        )
    if len(found) > 1:
        names = " and ".join(service.service.name for service in found)
        raise Refusal(f"{config.graph.name}: {names} both have the role {role}: a replay models one service a side")
    if _value(found[0], "enable-prefix-caching") is False:
        where = found[0].origins["enable-prefix-caching"].origin
        raise Refusal(f"{where}: {found[0].service.name}.enable-prefix-caching is off: there is no reuse to replay")
    return found[0]


def _shape(service: ServiceConfig) -> Topology:
    topology = service.service.topology or Topology()
    return Topology(
        _whole(service, "tensor-parallel-size") or topology.tensor_parallel,
        _whole(service, "data-parallel-size") or topology.data_parallel,
    )


def _tokens(service: ServiceConfig, *names: str) -> int | None:
    blocks = next((value for name in names if (value := _whole(service, name))), None)
    return None if blocks is None else blocks * (_whole(service, "block-size") or _BLOCK)


def _whole(service: ServiceConfig, name: str) -> int | None:
    value = _value(service, name)
    if value is None:
        return None
    try:
        return int(value)
    except (TypeError, ValueError) as error:
        where = service.origins[name].origin
        raise Refusal(f"{where}: {service.service.name}.{name} must be a whole number, not {value!r}") from error


def _value(service: ServiceConfig, name: str) -> Any:
    """Return a setting by its flag's name, whether it is typed or one of vLLM's that pass as they are."""
    settings = service.settings
    return getattr(settings, name.replace("-", "_"), (settings.model_extra or {}).get(name))
