from typing import Any

import pytest

from graphs.memory.ladder import ladder
from graphs.memory.mends import mends
from tests.graphs.memory.test_ladder import TP4, engine

LATENT = {**TP4, "kv-cache-dtype": "fp8_ds_mla"}


def test_one_change_is_enough_where_one_is() -> None:
    tight = engine({**LATENT, "max-model-len": 1_150_000})
    assert ladder(tight).missing_bytes
    found = mends(tight)
    assert [mend.change.partition(" ")[0] for mend in found] == [
        "gpu-memory-utilization",
        "max-model-len",
        "kv-cache-dtype",
    ]
    assert not any(mend.ladder.missing_bytes for mend in found)


def test_changes_are_made_together_where_none_alone_is_enough() -> None:
    found = mends(engine(LATENT, "h200", "fp8"))
    assert [mend.change for mend in found] == [
        "kv-cache-dtype nvfp4_ds_mla with attention-backend CUSTOM and tensor-parallel-size 8",
        "nvfp4 weights and tensor-parallel-size 8",
    ]
    assert not any(mend.ladder.missing_bytes for mend in found)


def test_rows_are_proposed_with_a_backend_that_reads_them() -> None:
    tight = {**TP4, "kv-cache-dtype": "fp8_e4m3", "max-model-len": 1_250_000}
    found = mends(engine({**tight, "attention-backend": "FLASHINFER_MLA_SPARSE"}))
    assert found[-1].change == "kv-cache-dtype nvfp4_ds_mla with attention-backend FLASHMLA_SPARSE"
    assert found[-1].ladder.row.cache_dtype == "nvfp4_ds_mla"


@pytest.mark.parametrize(
    "flags",
    [
        {"prefill-context-parallel-size": 4, "decode-context-parallel-size": 4, "tensor-parallel-size": 1},
        {"connectors": [{"hisparse": {"host-pool-gib": 48}}]},
    ],
)
def test_engines_that_gather_other_rows_are_not_told_to_shrink_them(flags: dict[str, Any]) -> None:
    found = mends(engine({**LATENT, **flags}, "h200", "fp8"))
    assert found
    assert not any("kv-cache-dtype" in mend.change for mend in found)


def test_what_nothing_helps_is_told_how_near_it_comes() -> None:
    found = mends(engine(LATENT, "h100", "bf16"))
    lacks = [mend.ladder.missing_bytes for mend in found]
    assert lacks == sorted(lacks)
    assert lacks[0] > 0


@pytest.mark.parametrize("change", ["max-model-len", "weights"])
def test_what_cannot_help_is_not_proposed(change: str) -> None:
    # No token fits, so no shorter session would; and no weights are smaller.
    assert not any(change in mend.change for mend in mends(engine({**LATENT, "tensor-parallel-size": 1}, "h200")))
