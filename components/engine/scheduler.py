"""vLLM's scheduler with a watch: it notes when each request was queued, fetched, admitted and first answered.

vLLM's own metrics are histograms that know no request, and call one time what are two: until a request's KV has
arrived, and from then until a step takes it. It is Dynamo's scheduler, which publishes forward-pass metrics, changes no
decision, and is an engine's where its configuration says ``forward-pass-metrics: true``.
"""

import time
from typing import Any

from dynamo.vllm.instrumented_scheduler import InstrumentedScheduler

from components.engine.moments import Moments, monotonic


class TimedScheduler(InstrumentedScheduler):  # type: ignore[misc]  # vLLM and Dynamo are not checked.
    """Adds each request's phases to the ``kv_transfer_params`` of its last output.

    Prefill's reach decode with what NIXL needs, and Dynamo passes decode's to the frontend as ``engine_data``.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._moments: dict[str, Moments] = {}

    def add_request(self, request: Any) -> None:
        """Queue a request."""
        # The engine takes in requests between two steps: those that come during a long one have waited for its end.
        queued = monotonic(request.arrival_time)
        self._moments[request.request_id] = Moments(request.kv_transfer_params, queued)
        super().add_request(request)

    def schedule(self, *args: Any, **kwargs: Any) -> Any:
        """Choose what the next step computes."""
        scheduled = super().schedule(*args, **kwargs)
        now = time.monotonic()
        for new in scheduled.scheduled_new_reqs:
            if (moments := self._moments.get(new.req_id)) is not None and moments.admitted is None:
                moments.admitted = now
        return scheduled

    def update_from_output(self, *args: Any, **kwargs: Any) -> Any:
        """Take in what a step computed, and say of the requests that it finished how long they took."""
        results = super().update_from_output(*args, **kwargs)
        now = time.monotonic()
        for request_id in self.finished_recving_kv_req_ids:
            if (moments := self._moments.get(request_id)) is not None and moments.fetched is None:
                moments.fetched = now
        for result in results.values():
            for output in result.outputs:
                self._note(output, now)
        return results

    def _note(self, output: Any, now: float) -> None:
        moments = self._moments.get(output.request_id)
        if moments is None:
            return
        if moments.first_token is None and output.new_token_ids:
            moments.first_token = now
        if output.finished:
            output.kv_transfer_params = moments.stamp(output.kv_transfer_params)
            del self._moments[output.request_id]

    def finish_requests(self, *args: Any, **kwargs: Any) -> Any:
        """Drop requests whose clients have gone."""
        aborted = super().finish_requests(*args, **kwargs)
        for request in aborted:
            self._moments.pop(request.request_id, None)
        return aborted
