"""The placements of all models that one frontend serves."""

from collections.abc import Iterator

from dynamo.runtime import DistributedRuntime

from components.frontend.discovery import EndpointWorkers
from components.frontend.fleet import Roster
from components.frontend.health import Health
from components.frontend.limits import Limited
from components.frontend.overlaps import ShadowIndex
from components.frontend.placing import Placing
from components.frontend.router_metrics import RouterMetrics
from router import Plain, Router, Sticky, Weights
from router.costs import Costs


class Places:
    """One `Placing` a model, made when the model appears and kept when its workers come and go.

    Args:
        policy: `sticky`, or `plain` to leave every choice to Dynamo.
        prefill_component: Dynamo component of the prefill workers.
        metrics: Counts decisions.
    """

    def __init__(self, policy: str, prefill_component: str, metrics: RouterMetrics) -> None:
        self._policy = policy
        self._prefill_component = prefill_component
        self._metrics = metrics
        self._by_model: dict[str, Placing] = {}

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
        roster = Roster(model, await EndpointWorkers.watch(prefill), await EndpointWorkers.watch(decode), Health())
        costs, weights = Costs(), Weights()
        return Placing(
            model,
            Router(Limited(Sticky(costs, weights)), costs, half_life_s=weights.half_life_s),
            self._metrics,
            roster,
            lambda aggregated, block_size: ShadowIndex(decode if aggregated else prefill, block_size),
            streams=self._streams,
        )

    def _streams(self) -> int:
        return sum(placing.router.in_flight for placing in self)
