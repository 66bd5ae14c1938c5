import msgspec
import pytest

from graphs.ratio.balance import balance
from graphs.ratio.workload import Demand
from router.costs import Costs
from router.replay.cluster import Cluster

COSTS = Costs(
    prefill_token_us=100.0,
    context_token_ns=1.0,
    step_ms=0.0,
    transfer_ms=0.0,
    piece_us=0.0,
    transfer_gb_s=1e9,
    decode_step_ms=5.0,
    decode_request_us=1_000.0,
)
WORK = Demand(10, 100_000, 1_000, 1_000 * 100_000, 100, 9.0)


def test_both_sides_by_hand() -> None:
    found = balance(WORK, COSTS, Cluster(prefill_ranks=8, decode_slots=16), 99.0)
    # 1,000 tokens of 100 us and 100,000 of context at 1 ns for each: 200 ms of a rank, half of another's before.
    assert found.prefill_ms == pytest.approx(200)
    assert found.first_token_ms == pytest.approx(300)
    # 1,010 ms for 100 tokens, of which 710 are left: 7 ms is enough, as with three requests.
    assert (found.decode_requests, found.decode_ms) == (3, 7)
    assert found.turn_s == pytest.approx(9 + 0.3 + 0.7)
    assert found.prefill_share == pytest.approx(0.2 / 10 / 8)
    assert found.decode_share == pytest.approx(0.7 / 10 / 3)
    assert found.decode_engines == pytest.approx(0.7 / 3 / (0.2 / 8))


def test_memory_limits_a_decoders_requests() -> None:
    found = balance(WORK, COSTS, Cluster(decode_kv_tokens=200_200), 1.0)
    assert found.decode_requests == 2


def test_slots_limit_a_decoders_requests() -> None:
    assert balance(WORK, COSTS, Cluster(decode_slots=4), 1.0).decode_requests == 4


def test_a_speed_that_nobody_has_leaves_no_request() -> None:
    assert balance(WORK, COSTS, Cluster(), 130.0).decode_requests == 0


def test_longer_answers_want_more_decoders() -> None:
    engines = [
        balance(msgspec.structs.replace(WORK, output_tokens=output), COSTS, Cluster(), 50.0).decode_engines
        for output in (100, 200, 400)
    ]
    assert engines == sorted(engines)
