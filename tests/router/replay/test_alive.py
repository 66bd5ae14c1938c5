"""Which engines of a modelled graph are alive."""

import pytest

from router.fleet import Worker
from router.replay import alive
from router.replay.cluster import Cluster, Outage

CLUSTER = Cluster(prefill_engines=2, prefill_ranks=4, rank_kv_tokens=1000, decode_engines=2, decode_kv_tokens=3000)
PREFILL, DECODE = Outage("prefill", 1, 5.0, 9.0), Outage("decode", 0, 5.0, 9.0)


def test_a_graphs_engines_have_ids_of_their_own_on_each_side() -> None:
    fleet = alive.whole(CLUSTER)

    assert fleet.prefill == (Worker(0, 4, 1000), Worker(1, 4, 1000))
    assert fleet.decode == (Worker(1000, 1, 3000), Worker(1001, 1, 3000))


@pytest.mark.parametrize("outage", [PREFILL, DECODE])
def test_who_dies_is_gone_and_comes_back_as_it_was(outage: Outage) -> None:
    whole = alive.whole(CLUSTER)

    left = alive.without(whole, outage)
    back = alive.again(left, outage, CLUSTER)

    gone = {*whole.prefill, *whole.decode} - {*left.prefill, *left.decode}
    assert [worker.worker_id for worker in gone] == [alive.worker_id(outage)]
    assert {*back.prefill, *back.decode} == {*whole.prefill, *whole.decode}


def test_the_last_engine_of_a_side_cannot_die() -> None:
    fleet = alive.without(alive.whole(CLUSTER), PREFILL)

    with pytest.raises(ValueError, match="last prefill engine dies at 7 s"):
        alive.without(fleet, Outage("prefill", 0, 7.0, 8.0))
