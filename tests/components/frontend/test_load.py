"""What workers publish, on its way to the router's books."""

from collections.abc import Mapping

import pytest
from dynamo.common.forward_pass_metrics import (
    ForwardPassMetrics,
    QueuedRequestMetrics,
    ScheduledRequestMetrics,
    encode,
)
from prometheus_client import CollectorRegistry

from components.frontend.discovery import Card, Runtime
from components.frontend.fleet import Roster
from components.frontend.health import Health
from components.frontend.limits import Limited
from components.frontend.load import LAPSE_MS, Load, read
from components.frontend.placing import Placing
from components.frontend.router_metrics import RouterMetrics
from router import Costs, Rank, Router, Sticky
from router.foreign import Published

FIRST, SECOND, DECODER = Rank(1, 0), Rank(1, 1), Rank(2, 0)


class Workers:
    """Discovery of one prefill worker of two ranks, or of one decode worker."""

    def __init__(self, id_: int, role: str) -> None:
        self._id, self._role = id_, role

    def ids(self) -> tuple[int, ...]:
        return (self._id,)

    def cards(self) -> dict[int, Card]:
        return {self._id: Card("glm", self._role, 64, Runtime(10_000, 2 if self._role == "prefill" else 1))}

    def addresses(self) -> dict[int, str]:
        return {}


class Source:
    """The latest messages of an endpoint's workers."""

    def __init__(self) -> None:
        self.latest: dict[tuple[str, int], bytes] = {}

    def published(self) -> Mapping[tuple[str, int], bytes]:
        return self.latest

    def publish(self, rank: Rank, number: int, computed: int = 0, queued: int = 0, answering: int = 0) -> None:
        self.latest[str(rank.worker_id), rank.dp_rank] = encode(
            ForwardPassMetrics(
                worker_id=str(rank.worker_id),
                dp_rank=rank.dp_rank,
                counter_id=number,
                wall_time=0.1,
                scheduled_requests=ScheduledRequestMetrics(
                    num_prefill_requests=int(computed > 0), sum_prefill_tokens=computed, num_decode_requests=answering
                ),
                queued_requests=QueuedRequestMetrics(num_prefill_requests=queued, sum_prefill_tokens=queued * 5_000),
            )
        )


@pytest.fixture
def placing() -> Placing:
    roster = Roster("glm", Workers(1, "prefill"), Workers(2, "decode"), Health())
    return Placing("glm", Router(Limited(Sticky(Costs()))), RouterMetrics(CollectorRegistry()), roster)


def worked(placing: Placing, rank: Rank, now: float) -> float:
    return round(placing.router.prefill[rank].foreign_work.at(now))


def test_a_message_is_read_by_what_it_counts() -> None:
    metrics = ForwardPassMetrics(
        scheduled_requests=ScheduledRequestMetrics(
            num_prefill_requests=2, sum_prefill_tokens=4096, sum_prefill_kv_tokens=900, num_decode_requests=7
        ),
        queued_requests=QueuedRequestMetrics(
            num_prefill_requests=3, sum_prefill_tokens=90_000, num_decode_requests=1, sum_decode_kv_tokens=50
        ),
    )

    assert read(metrics, 904) == Published(
        prefills=2, computed_tokens=5000, queued=3, queued_tokens=90_000, answering=8
    )


def test_it_is_known_before_the_first_request_is_placed(placing: Placing) -> None:
    prefill, decode = Source(), Source()
    prefill.publish(SECOND, 1, computed=4096, queued=2)
    decode.publish(DECODER, 1, answering=5)
    load = Load(placing, [prefill, decode])

    load.look(1_000.0)

    router = placing.router
    assert router.prefill[SECOND].others.at(1_000.0).prompt_tokens == 10_000
    assert router.prefill[FIRST].others.at(1_000.0).requests == 0
    assert router.decode[DECODER].others.at(1_000.0).answering == 5


def test_a_message_counts_once_and_those_that_were_missed_as_the_lesser_beside_them(placing: Placing) -> None:
    source = Source()
    load = Load(placing, [source])
    source.publish(FIRST, 7, computed=1000)
    load.look(0.0)
    load.look(50.0)
    assert worked(placing, FIRST, 50.0) == 1000

    source.publish(FIRST, 10, computed=2000)
    load.look(100.0)

    assert worked(placing, FIRST, 100.0) == 1000 + 2 * 1000 + 2000
    source.publish(FIRST, 12)
    load.look(150.0)
    source.publish(FIRST, 15, computed=3000)
    load.look(200.0)
    assert worked(placing, FIRST, 200.0) == 5000 + 3000


def test_after_a_lapse_or_a_new_beginning_nothing_was_missed(placing: Placing) -> None:
    source = Source()
    load = Load(placing, [source])
    source.publish(FIRST, 1000, computed=1000)
    load.look(0.0)
    source.publish(FIRST, 9000, computed=1000)
    load.look(LAPSE_MS + 1.0)
    source.publish(FIRST, 1, computed=1000)
    load.look(LAPSE_MS + 51.0)

    assert worked(placing, FIRST, LAPSE_MS + 51.0) == 3000


def test_who_has_left_and_who_is_not_understood_are_passed_over(placing: Placing) -> None:
    source = Source()
    load = Load(placing, [source])
    source.publish(FIRST, 1, computed=1000)
    load.look(0.0)
    source.latest = {("1", 1): b"no message", ("77", 0): encode(ForwardPassMetrics(version=99))}
    load.look(50.0)
    source.latest = {}
    load.look(100.0)
    # The same instance id again, after discovery had lost it.
    source.publish(FIRST, 5, computed=1000)
    load.look(150.0)

    assert worked(placing, FIRST, 150.0) == 2000
