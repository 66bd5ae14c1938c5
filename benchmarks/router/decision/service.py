"""A frontend's routing, whole: runtime, index, books and policy, made by what makes them there."""

import asyncio
import contextlib
import heapq
import itertools
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field

from dynamo.llm import KvRouter, KvRouterConfig
from dynamo.runtime import DistributedRuntime, Endpoint
from prometheus_client import CollectorRegistry

from benchmarks.frontend.processes import BenchmarkError
from benchmarks.router.decision.engines import BLOCK, DECODERS, ENGINES, MODEL
from benchmarks.router.decision.prompts import Tokens
from components.frontend.health import now_ms
from components.frontend.limits import LimitedRequest
from components.frontend.pairs import Prompt
from components.frontend.places import Places
from components.frontend.placing import Placing
from components.frontend.router_metrics import RouterMetrics
from router import Fleet, Rank
from router.identity import Hints, identify
from router.lineage import KEPT, Lineage
from router.trail import STRIDE, Trail, follow

_SCOPE = Hints("benchmark")
_ANSWER_TOKENS, _ANSWER_MS = 400, 6_000.0
_READY_LIMIT_S = 60
_POLL_S = 0.05


@dataclass
class Service:
    """The routing of one model.

    Attributes:
        placing: The production path of a placement.
        prefill: The endpoint of the prefill engines.
        lineage: The sessions by their prompts.
    """

    placing: Placing
    prefill: Endpoint
    lineage: Lineage = field(default_factory=Lineage)
    _ids: Iterator[int] = field(default_factory=itertools.count)
    _to_come: list[tuple[float, str, bool]] = field(default_factory=list)

    def fleet(self) -> Fleet:
        """Return the workers that are seen."""
        return self.placing.roster.fleet() if self.placing.roster else Fleet()

    def prepare(self, tokens: Tokens) -> tuple[str, Prompt]:
        """Return the session of a prompt that names none, and the prompt as it is placed."""
        return identify(_SCOPE, follow(_SCOPE.scope, tokens), self.lineage).key, self.placing.prepare(tokens)

    def meet(self, tokens: Tokens) -> str:
        """Return the session of a prompt that grew over as many turns as lineage knows a session by."""
        whole = follow(_SCOPE.scope, tokens)
        lengths = [len(tokens) - back * STRIDE for back in range(KEPT)]
        cut = [Trail(tokens[:length], whole.checkpoints[: length // STRIDE + 1]) for length in lengths[::-1]]
        return [identify(_SCOPE, trail, self.lineage).key for trail in cut][-1]

    def serve(self, session: str, tokens: int, at_ms: float) -> Rank:
        """Place a request of the past, without the index; it is answered as soon as the router expects it to be."""
        self.wait(at_ms)
        router, asked = self.placing.router, self._request(session, tokens)
        decision = router.place(asked, self.fleet(), at_ms)
        first_ms = at_ms + router.ticket(asked.request_id).expected_ms
        heapq.heappush(self._to_come, (first_ms, asked.request_id, True))
        heapq.heappush(self._to_come, (first_ms + _ANSWER_MS, asked.request_id, False))
        assert decision.prefill.rank is not None  # noqa: S101 - the sticky policy always chooses among ranks.
        return decision.prefill.rank

    def wait(self, until_ms: float) -> None:
        """Let the answers come that come until then."""
        while self._to_come and self._to_come[0][0] <= until_ms:
            at_ms, request_id, first = heapq.heappop(self._to_come)
            if first:
                self.placing.router.first_token(request_id, at_ms)
            else:
                self.placing.router.finish(request_id, "stop", at_ms, answer_tokens=_ANSWER_TOKENS)

    async def place(self, session: str, prompt: Prompt) -> tuple[float, int]:
        """Place a request as the frontend does; its client leaves at once, so books and prices stay as they are.

        Returns:
            How long it took, in ms, and how many tokens of the prompt the rank with the most of it has.
        """
        asked = self._request(session, len(prompt.token_ids))
        placed = await self.placing.place(asked, prompt)
        ticket = self.placing.router.finish(asked.request_id, "cancelled", now_ms())
        return placed.took_ms, max((overlap.device for overlap in ticket.request.overlaps.values()), default=0)

    def theirs(self) -> KvRouter:
        """Return Dynamo's own router over the same prefill engines, as its frontend makes it."""
        return KvRouter(endpoint=self.prefill, block_size=BLOCK, kv_router_config=KvRouterConfig())

    def _request(self, session: str, tokens: int) -> LimitedRequest:
        return LimitedRequest(str(next(self._ids)), MODEL, session, tokens)


@contextlib.asynccontextmanager
async def serving() -> AsyncIterator[Service]:
    """Make a frontend's routing over the engines, once all of them are seen; the environment says where they are.

    Raises:
        BenchmarkError: If they are not there within a minute.
    """
    runtime = DistributedRuntime(asyncio.get_running_loop(), "file", "tcp", event_plane="zmq")
    try:
        places = Places("sticky", "prefill", RouterMetrics(CollectorRegistry()))
        placing = await places.of(MODEL, runtime, ("dynamo", "backend", "generate"))
        service = Service(placing, runtime.endpoint("dynamo.prefill.generate"))
        await _all_seen(service)
        await placing.warm()
        yield service
    finally:
        runtime.shutdown()


async def _all_seen(service: Service) -> None:
    deadline = time.monotonic() + _READY_LIMIT_S
    while True:
        fleet = service.fleet()
        if (len(fleet.prefill), len(fleet.decode)) == (ENGINES, DECODERS):
            return
        if time.monotonic() > deadline:
            raise BenchmarkError(f"the mock engines were not there within {_READY_LIMIT_S} s")
        await asyncio.sleep(_POLL_S)
