"""Whose fault a failed request is, and what follows for the worker."""

import asyncio
import logging

from components.frontend.failures import accused
from components.frontend.fleet import Roster
from components.frontend.health import Answer, Why, now_ms, probe
from components.frontend.router_metrics import RouterMetrics

log = logging.getLogger(__name__)


class Blame:
    """Puts the workers of one model out and lets them back in.

    Args:
        model: The model.
        roster: Its workers, and their health.
        metrics: Counts who is put out.
    """

    def __init__(self, model: str, roster: Roster, metrics: RouterMetrics) -> None:
        self._model = model
        self._roster = roster
        self._health = roster.health
        self._metrics = metrics
        self._neighbours: dict[int, set[int]] = {}
        self._sweep: asyncio.Task[dict[int, Answer]] | None = None
        self._trials: set[asyncio.Task[None]] = set()

    async def failed(self, suspects: set[int], error: Exception) -> set[int]:
        """Find out which workers are out after an error, and return them; empty where nothing tells.

        Args:
            suspects: The workers that it may be the fault of.
            error: What the routed engine raised.
        """
        addresses = self._roster.addresses()
        known = {worker_id: addresses.get(worker_id, "") for worker_id in suspects}
        self._exclude(accused(error, known), "named", error)
        if self._sweep is None or self._sweep.done():
            # Whoever fails at this moment waits for the same look around.
            self._sweep = asyncio.get_running_loop().create_task(self._look_around(error))
        found = await asyncio.shield(self._sweep)
        self._exclude({worker_id for worker_id in suspects if found.get(worker_id) == "silence"}, "unreachable", error)
        # Dynamo shuns a worker that failed, and then its errors name nobody.
        if guilty := suspects & self._health.excluded.keys():
            return guilty
        struck_out = {worker_id for worker_id in suspects if self._health.strike(worker_id)}
        self._exclude(struck_out, "failing", error)
        return struck_out

    async def _look_around(self, error: Exception) -> dict[int, Answer]:
        """Ask every worker, since what fails may take more than one with it, and put out those that refuse."""
        addresses = self._roster.addresses()
        answers = await asyncio.gather(*(probe(address) for address in addresses.values()))
        found = dict(zip(addresses, answers, strict=True))
        self._exclude({worker_id for worker_id, answer in found.items() if answer == "refusal"}, "unreachable", error)
        return found

    def _exclude(self, workers: set[int], why: Why, error: Exception) -> None:
        addresses = self._roster.addresses()
        for worker_id in workers:
            if self._health.exclude(worker_id, why, now_ms()):
                self._neighbours[worker_id] = _neighbours(worker_id, addresses)
                log.warning("worker %d is out (%s): %s", worker_id, why, error)
                self._metrics.excluded(self._model, why)

    def served(self, workers: set[int]) -> None:
        """Note that these workers brought a first token."""
        for worker_id in workers:
            self._health.served(worker_id)

    def try_again(self) -> None:
        """Ask the workers that are out and whose time has come whether they answer; they are back in a moment."""
        for worker_id in self._health.due(now_ms()):
            trial = asyncio.get_running_loop().create_task(self._try(worker_id))
            self._trials.add(trial)
            trial.add_done_callback(self._trials.discard)

    async def _try(self, worker_id: int) -> None:
        addresses = self._roster.addresses()
        address = addresses.get(worker_id, "")
        # Whoever came to its address since then is the process that a supervisor has started in its place.
        replaced = _neighbours(worker_id, addresses) - self._neighbours.get(worker_id, set())
        # Without an address only a request can tell.
        reached = not replaced and (not address or await probe(address) == "answer")
        self._health.tried(worker_id, now_ms(), answers=reached)


def _neighbours(worker_id: int, addresses: dict[int, str]) -> set[int]:
    """Return the other workers at a worker's address: one process may serve several."""
    address = addresses.get(worker_id)
    return {other for other, its in addresses.items() if address and its == address and other != worker_id}
