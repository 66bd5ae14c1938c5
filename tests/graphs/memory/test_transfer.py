from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from graphs.memory.ladder import Engine, ladder
from graphs.memory.transfer import PIECE_US, TRANSFER_GB_S, Transfer, transfer
from tests.graphs.memory.test_ladder import DEP8, TP4, engine

NIXL = {"connectors": ["nixl"], "kv-cache-layout": "BLHNC", "block-size": 64}


def moved(flags: Mapping[str, Any], tokens: int) -> Transfer:
    chosen = engine({**NIXL, **flags})
    found = transfer(chosen, ladder(chosen), tokens)
    assert found is not None
    return found


def test_every_tensor_rank_pulls_the_whole_request_in_whole_blocks() -> None:
    found = moved(TP4, 200_000)
    assert (found.ranks, found.whole_pieces, found.pieces) == (4, 3_125, 3_125 * 101)
    assert found.rank_bytes == 200_000 * 30_712


def test_an_attention_rank_pulls_it_once() -> None:
    assert moved(DEP8, 200_000).ranks == 1


def test_context_ranks_share_it() -> None:
    found = moved({"prefill-context-parallel-size": 8, "decode-context-parallel-size": 8}, 8 * 64)
    assert (found.ranks, found.whole_pieces) == (8, 1)


def test_pipeline_stages_pull_their_own_layers_and_a_piece_of_each_block() -> None:
    found = moved({**TP4, "pipeline-parallel-size": 2}, 200_000)
    assert (found.ranks, found.rank_bytes, found.whole_pieces) == (8, 200_000 * 15_356, 3_125)
    assert found.pieces == -(-3_125 * 101 // 2)


def test_layers_apart_are_pieces_apart() -> None:
    found = moved({**TP4, "kv-cache-layout": "LBNHC", "block-size": 1024}, 124_160)
    assert found.pieces == found.whole_pieces == 122 * 101


def test_its_time_grows_with_bytes_and_pieces() -> None:
    times = [moved(TP4, tokens).rank_ms for tokens in (64, 6_400, 640_000)]
    assert times == sorted(times)
    # 640,000 x 30,712 B at 86.3 GB/s, 1,010,000 pieces of 3.859 us.
    assert times[-1] == pytest.approx(227.7 + 3898, abs=2)
    assert moved(TP4, 640_000).whole_rank_ms == pytest.approx(227.7 + 38.6, abs=1)


def test_the_published_pair_is_met() -> None:
    # 198,302 tokens, in blocks of 1,024 of 101 regions and in 1,940 pieces: 146 and 78 ms.
    size = 19_559 / 101 * 1_024 * 30_712
    assert size / TRANSFER_GB_S / 1e6 + 19_559 * PIECE_US / 1e3 == pytest.approx(146)
    assert size / TRANSFER_GB_S / 1e6 + 1_940 * PIECE_US / 1e3 == pytest.approx(78)


@pytest.mark.parametrize("change", [{"role": "prefill"}, {"settings": engine(TP4).settings}])
def test_an_engine_that_pulls_nothing_has_none(change: dict[str, Any]) -> None:
    chosen: Engine = msgspec.structs.replace(engine({**NIXL, **TP4}), **change)
    assert transfer(chosen, ladder(chosen), 1) is None
