"""The workers of one Dynamo endpoint, as discovery shows them now."""

from collections.abc import Mapping
from typing import Any, Protocol

import msgspec
from dynamo.llm import FpmEventSubscriber
from dynamo.runtime import Endpoint

Role = str
"""Dynamo's worker type: `prefill`, `decode` or `aggregated`."""


class Runtime(msgspec.Struct, frozen=True):
    """What the router reads of a card's `runtime_config`.

    Attributes:
        total_kv_blocks: KV blocks of each rank, None where the worker does not say.
        data_parallel_size: Ranks of the worker.
        data_parallel_start_rank: The first of them: an engine over several nodes registers a worker for each.
    """

    total_kv_blocks: int | None = None
    data_parallel_size: int = 1
    data_parallel_start_rank: int = 0


class Card(msgspec.Struct, frozen=True):
    """What the router reads of a worker's own model deployment card (ai-dynamo 1.6.1).

    The card that Dynamo hands to a chat engine is that of one worker, whichever came first.

    Attributes:
        display_name: The model.
        worker_type: Its role.
        kv_cache_block_size: Tokens of a KV block.
        runtime_config: Sizes.
    """

    display_name: str = ""
    worker_type: Role = "aggregated"
    kv_cache_block_size: int = 0
    runtime_config: Runtime = Runtime()


class Workers(Protocol):
    """The workers of one endpoint."""

    def ids(self) -> tuple[int, ...]:
        """Return the instance ids in discovery, in ascending order."""

    def cards(self) -> Mapping[int, Card]:
        """Return the cards that are known, also of workers that have left."""

    def addresses(self) -> Mapping[int, str]:
        """Return `host:port` of the workers that are reached by TCP."""


class EndpointWorkers:
    """The workers of an endpoint of the running graph.

    Args:
        client: Dynamo's client of the endpoint: it knows the instances.
        tracker: Started; it knows the card of each instance, which nothing else in Python tells.
    """

    def __init__(self, client: Any, tracker: FpmEventSubscriber) -> None:
        self._client = client
        self._tracker = tracker

    @classmethod
    async def watch(cls, endpoint: Endpoint) -> "EndpointWorkers":
        """Begin to watch an endpoint, whether or not it has workers yet; cards follow within about 0.2 s."""
        tracker = FpmEventSubscriber(endpoint)
        tracker.start_tracking()
        return cls(await endpoint.client(), tracker)

    def ids(self) -> tuple[int, ...]:
        """Return the instance ids in discovery, in ascending order."""
        return tuple(sorted(self._client.instance_ids()))

    def cards(self) -> dict[int, Card]:
        """Return the cards that are known, also of workers that have left."""
        return {int(id_): msgspec.json.decode(card, type=Card) for id_, card in self._tracker.get_model_cards().items()}

    def published(self) -> dict[tuple[str, int], bytes]:
        """Return the latest `ForwardPassMetrics` of each rank, by instance id and rank, undecoded."""
        latest: dict[tuple[str, int], bytes] = self._tracker.get_recent_stats()
        return latest

    def addresses(self) -> dict[int, str]:
        """Return `host:port` of the workers that are reached by TCP."""
        instances = self._client.instances()
        return {
            each.instance_id: each.transport.address.partition("/")[0]
            for each in instances
            if each.transport.kind == "tcp"
        }
