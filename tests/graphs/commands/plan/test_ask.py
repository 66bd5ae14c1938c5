import pytest

from graphs.commands.plan.ask import cluster
from graphs.commands.plan.engines import Planned
from graphs.memory.host import Tier
from tests.graphs.ratio.engines import DECODE, PREFILL, side


def planned(engines: int, *tiers: Tier) -> Planned:
    engine, ladder = side(PREFILL if tiers else DECODE)
    return Planned(engine, ladder, tiers, (), engines)


@pytest.mark.parametrize(("common", "tokens"), [(False, 3 * 700), (True, 700)])
def test_each_prefill_engine_brings_its_store_and_one_beside_them_is_there_once(common: bool, tokens: int) -> None:
    prefill = planned(3, Tier("Mooncake", 1, 500, common), Tier("Mooncake", 1, 200, common))
    found = cluster(prefill, planned(4), 16)
    assert (found.prefill_engines, found.decode_engines, found.host_tokens) == (3, 4, tokens)
