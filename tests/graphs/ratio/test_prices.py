import pytest

from graphs.ratio.measured import Measured
from graphs.ratio.prices import prices, slots
from tests.graphs.ratio.engines import DECODE, PREFILL, side


def test_the_measured_chunk_and_itl_come_back() -> None:
    found = prices(side(PREFILL), side(DECODE), Measured(), 140_000)
    # 8,192 tokens whose mean context is 140,000: half of them are before the middle one.
    assert found.step_ms + found.prefill_ms(8_192, 140_000 + 4_096) == pytest.approx(678, rel=1e-6)
    assert found.decode_ms(4) == pytest.approx(6.08)
    assert found.decode_ms(1) < found.decode_ms(4) < found.decode_ms(16)


def test_what_is_not_measured_is_as_the_flags_have_it() -> None:
    found = prices(side(PREFILL), side(DECODE), Measured(), 140_000, host_tokens=7)
    assert (found.budget_tokens, found.kv_token_bytes, found.host_tokens, found.piece_tokens) == (8_192, 30_712, 7, 64)
    assert found.piece_us == pytest.approx(101 * 3.859, rel=1e-3)
    assert prices(side(PREFILL), side(DECODE), Measured(), 1, whole_blocks=True).piece_us == pytest.approx(
        3.859, rel=1e-3
    )
    assert slots(*side(DECODE)) == 16
    assert slots(*side({**PREFILL, "max-num-seqs": 4})) == 32


def test_what_the_flags_do_not_say_is_as_vllm_has_it() -> None:
    bare = {"tensor-parallel-size": 4}
    assert prices(side(bare), side(DECODE), Measured(), 140_000).budget_tokens == 16_384
    assert slots(*side(bare)) == 1_024


def test_a_rank_of_more_gpus_and_a_slower_gpu_are_as_their_data_sheets_say() -> None:
    one = prices(side(PREFILL), side(DECODE), Measured(), 140_000)
    wide = prices(side({**DECODE, "tensor-parallel-size": 8}), side(DECODE), Measured(), 140_000)
    assert wide.prefill_token_us == pytest.approx(one.prefill_token_us / 8)
    hopper = prices(side(PREFILL, "h200"), side(DECODE, "h200"), Measured(), 140_000)
    assert hopper.prefill_token_us == pytest.approx(one.prefill_token_us * 5.0 / 1.979)
    assert hopper.decode_ms(4) == pytest.approx(6.08 * 8.0 / 4.8)


def test_indexers_in_every_layer_cost_each_token_of_context_as_often() -> None:
    shared, full = (prices(side(PREFILL, model=name), side(DECODE), Measured(), 1) for name in ("GLM-5.3", "GLM-5"))
    assert full.context_token_ns == pytest.approx(shared.context_token_ns * 78 / 21)


def test_without_drafts_a_step_is_a_token() -> None:
    three = prices(side(PREFILL), side(DECODE), Measured(acceptance=0.5), 140_000)
    none = prices(side(PREFILL), side({**DECODE, "speculative-config": None}), Measured(acceptance=0.5), 140_000)
    # A step that reads less, and brings one token instead of 1.875.
    assert three.decode_ms(1) < none.decode_ms(1) < 1.875 * three.decode_ms(1)
