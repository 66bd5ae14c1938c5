"""What each prefill rank computes, as it says itself: Dynamo's forward-pass metrics, a message a step.

The same source whatever the frontend: answers of ours do not name the rank, those of Dynamo's do.
"""

import asyncio
import threading

from dynamo.common.forward_pass_metrics import decode
from dynamo.llm import FpmEventSubscriber
from dynamo.runtime import DistributedRuntime

from benchmarks.router.live.reading import Reading, after

_POLL_S, _LIMIT_S = 0.05, 60


class Meter:
    """Listens to the prefill workers from now on; `close` must follow."""

    def __init__(self) -> None:
        self._runtime = DistributedRuntime(asyncio.get_running_loop(), "file", "tcp", event_plane="zmq")
        self._subscriber = FpmEventSubscriber(self._runtime.endpoint("dynamo.prefill.generate"))
        self._readings: dict[tuple[str, int], Reading] = {}
        # Receiving blocks.
        self._thread = threading.Thread(target=self._listen)
        self._thread.start()

    def _listen(self) -> None:
        while (message := self._subscriber.recv()) is not None:
            said = decode(message)
            if said is not None:
                key = (said.worker_id, said.dp_rank)
                self._readings[key] = after(
                    self._readings.get(key, Reading()), said.counter_id, said.scheduled_requests.sum_prefill_tokens
                )

    async def read(self, ranks: int) -> list[Reading]:
        """Return the readings once so many ranks have spoken, each of them after this call; idle ones do each second.

        Args:
            ranks: How many there are.

        Raises:
            TimeoutError: If one is silent for a minute.
        """
        before = dict(self._readings)
        async with asyncio.timeout(_LIMIT_S):
            while True:
                now = dict(self._readings)
                if len(now) >= ranks and all(now[key].last > before.get(key, Reading()).last for key in now):
                    return [now[key] for key in sorted(now)]
                await asyncio.sleep(_POLL_S)

    async def close(self) -> None:
        """Stop listening: a thread that still receives when Python ends aborts the process."""
        self._runtime.shutdown()
        await asyncio.to_thread(self._thread.join)
