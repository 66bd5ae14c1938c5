"""What workers publish of their load, for the router to see what others have placed."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from dynamo.common.forward_pass_metrics import ForwardPassMetrics, decode

from components.frontend.health import now_ms
from components.frontend.placing import Placing
from router import Rank
from router.foreign import Published

log = logging.getLogger(__name__)

LOOK_S = 0.05
"""Between two looks, in s. A step that computes something takes a prefill engine 12 ms and more. Each that is missed
between two looks counts as the lesser of the two that are seen: rather too little than what nobody placed."""

LAPSE_MS = 1_500.0
"""Where nothing new was seen for so long, steps were missed altogether: engines publish each second, idle or not."""


class Source(Protocol):
    """Whoever has the latest figures of an endpoint's workers."""

    def published(self) -> Mapping[tuple[str, int], bytes]:
        """Return the latest `ForwardPassMetrics` by instance id and rank, as they came."""


class _Seen(NamedTuple):
    raw: bytes
    at_ms: float
    number: int = 0
    computed_tokens: int = 0


class Load:
    """Hands what the workers of one model publish to its router.

    Args:
        placing: Has the router.
        sources: Of all endpoints of the model.
    """

    def __init__(self, placing: Placing, sources: Sequence[Source]) -> None:
        self._placing = placing
        self._sources = sources
        self._seen: dict[Rank, _Seen] = {}
        self._looked_ms = now_ms()

    async def watch(self) -> None:
        """Look until the task is cancelled."""
        try:
            while True:
                await asyncio.sleep(LOOK_S)
                self.look(now_ms())
        except Exception:
            log.exception("%s: what workers publish of their load is read no more", self._placing.model)

    def look(self, now_ms: float) -> None:
        """Report the figures that are new since the last look."""
        latest = {(int(id_), rank): raw for each in self._sources for (id_, rank), raw in each.published().items()}
        self._placing.meet()
        for (worker_id, dp_rank), raw in latest.items():
            self._report(Rank(worker_id, dp_rank), raw, now_ms)
        self._seen = {rank: seen for rank, seen in self._seen.items() if rank in latest}
        self._looked_ms = now_ms

    def _report(self, rank: Rank, raw: bytes, now_ms: float) -> None:
        last = self._seen.get(rank)
        if last is not None and last.raw == raw:
            return
        metrics = decode(raw)
        if metrics is None:
            self._seen[rank] = _Seen(raw, now_ms)
            return
        computed = metrics.scheduled_requests.sum_prefill_tokens
        self._seen[rank] = _Seen(raw, now_ms, metrics.counter_id, computed)
        missed_tokens = 0
        if last is not None and now_ms - last.at_ms <= LAPSE_MS:
            missed_tokens = max(0, metrics.counter_id - last.number - 1) * min(last.computed_tokens, computed)
        self._placing.router.report(rank, read(metrics, missed_tokens), self._looked_ms, now_ms)


def read(metrics: ForwardPassMetrics, missed_tokens: int) -> Published:
    """Read one message.

    Args:
        metrics: The message.
        missed_tokens: New prompt tokens of the steps before it that were not seen.
    """
    scheduled, queued = metrics.scheduled_requests, metrics.queued_requests
    return Published(
        prefills=scheduled.num_prefill_requests,
        computed_tokens=scheduled.sum_prefill_tokens + missed_tokens,
        queued=queued.num_prefill_requests,
        queued_tokens=queued.sum_prefill_tokens,
        answering=scheduled.num_decode_requests + queued.num_decode_requests,
    )
