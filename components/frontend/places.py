"""The placements of all models that one frontend serves."""

import asyncio
from collections.abc import Callable, Iterator

from dynamo.runtime import DistributedRuntime

from components.frontend.discovery import EndpointWorkers
from components.frontend.exchange import Exchange
from components.frontend.fleet import Roster
from components.frontend.health import Health
from components.frontend.limits import Limited
from components.frontend.load import Load
from components.frontend.overlaps import ShadowIndex
from components.frontend.placing import Placing
from components.frontend.router_metrics import RouterMetrics
from router import Costs, Fit, Plain, Router, Sticky, Store, Weights
from router.told import Told


class Places:
    """One `Placing` a model, made when the model appears and kept when its workers come and go.

    Args:
        policy: `sticky`, or `plain` to leave every choice to Dynamo.
        prefill_component: Dynamo component of the prefill workers.
        metrics: Counts decisions.
        host_tokens: Tokens of KV in a store behind all prefill ranks that the index does not see; 0 where none is.
    """

    def __init__(self, policy: str, prefill_component: str, metrics: RouterMetrics, host_tokens: int = 0) -> None:
        self._policy = policy
        self._prefill_component = prefill_component
        self._metrics = metrics
        self._host_tokens = host_tokens
        self._by_model: dict[str, Placing] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self.exchange = Exchange(self._hear, self._lost)
        self._exchanging = False

    def __iter__(self) -> Iterator[Placing]:
        return iter(list(self._by_model.values()))

    async def of(self, model: str, runtime: DistributedRuntime, answering: tuple[str, str, str]) -> Placing:
        """Return the placing of a model.

        Args:
            model: The model.
            runtime: The frontend's.
            answering: Namespace, component and endpoint of the workers that answer its chat requests.
        """
        if model not in self._by_model:
            self._metrics.expect(model)
            made = self._plain(model) if self._policy == "plain" else await self._sticky(model, runtime, answering)
            # Two workers may bring the model at the same moment.
            await self._by_model.setdefault(model, made).warm()
        return self._by_model[model]

    def _plain(self, model: str) -> Placing:
        return Placing(model, Router(Plain()), self._metrics, streams=self._streams)

    async def _sticky(self, model: str, runtime: DistributedRuntime, answering: tuple[str, str, str]) -> Placing:
        namespace, component, endpoint = answering
        decode = runtime.endpoint(f"{namespace}.{component}.{endpoint}")
        prefill = runtime.endpoint(f"{namespace}.{self._prefill_component}.{endpoint}")
        sides = await EndpointWorkers.watch(prefill), await EndpointWorkers.watch(decode)
        await self._join(runtime, namespace)
        if model in self._by_model:
            return self._by_model[model]
        roster = Roster(model, *sides, Health())
        placing = Placing(
            model,
            self.router(lambda told: self.exchange.tell(model, told)),
            self._metrics,
            roster,
            lambda aggregated, block_size: ShadowIndex(decode if aggregated else prefill, block_size),
            streams=self._streams,
        )
        self._tasks.add(asyncio.get_running_loop().create_task(Load(placing, sides).watch()))
        return placing

    async def close(self) -> None:
        """Leave the exchange with other frontends, and read no more what workers publish."""
        for task in self._tasks:
            task.cancel()
        await self.exchange.stop()

    async def _join(self, runtime: DistributedRuntime, namespace: str) -> None:
        """Begin to exchange bookings with the other frontends of a namespace, once."""
        if not self._exchanging:
            self._exchanging = True
            await self.exchange.start(runtime.endpoint(f"{namespace}.frontend.bookings"))

    def _hear(self, peer: str, model: str, told: Told) -> None:
        # Who serves a model that is not known here yet tells of the next request again.
        if (placing := self._by_model.get(model)) is not None:
            placing.hear(peer, told)

    def _lost(self, peer: str) -> None:
        for placing in self:
            placing.lost(peer)

    def router(self, tell: Callable[[Told], None] = lambda _told: None) -> Router:
        """Return a new router with our policy, whose prices correct themselves.

        Args:
            tell: Is given what the router books.
        """
        fit, weights = Fit(Costs(host_tokens=self._host_tokens)), Weights()
        store = Store(self._host_tokens) if self._host_tokens else None
        return Router(Limited(Sticky(fit, weights)), fit, half_life_s=weights.half_life_s, store=store, tell=tell)

    def _streams(self) -> int:
        return sum(placing.router.in_flight for placing in self)
