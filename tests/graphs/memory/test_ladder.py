from collections.abc import Mapping
from typing import Any

import pytest

from graphs.memory.devices import GIB, device
from graphs.memory.ladder import Engine, Ladder, ladder
from graphs.memory.shapes import KNOWN
from graphs.settings.vllm import VllmSettings

MTP = {"speculative-config": {"method": "mtp", "num_speculative_tokens": 3}}
TP4 = {"tensor-parallel-size": 4, "max-num-batched-tokens": 1024, "max-num-seqs": 16, **MTP}
DEP8 = {"data-parallel-size": 8, "enable-expert-parallel": True, "max-num-batched-tokens": 4096, **MTP}
TEP8 = {"tensor-parallel-size": 8, "enable-expert-parallel": True, "max-num-batched-tokens": 4096, **MTP}


def engine(
    flags: Mapping[str, Any], gpu: str = "gb200", weights: str = "nvfp4", assumed: Mapping[str, int] | None = None
) -> Engine:
    settings = VllmSettings.model_validate({"kv-cache-dtype": "nvfp4_ds_mla", **flags})
    return Engine("Decode", "decode", settings, KNOWN["GLM-5.3"], weights, device(gpu), assumed or {})


def kind(found: Ladder, name: str) -> int:
    return sum(rung.size_bytes for rung in found.rungs if rung.kind == name)


def test_the_rungs_and_what_is_left_are_all_of_the_memory() -> None:
    found = ladder(engine(TP4))
    assert (
        sum(kind(found, name) for name in ("reserve", "weights", "assumed")) + found.kv_bytes
        == device("gb200").hbm_bytes
    )
    assert found.gpu_tokens == found.kv_bytes // 30_712


@pytest.mark.parametrize(
    ("row", "token_bytes"), [("fp8_e4m3", 48_408), ("fp8", 48_408), ("fp8_ds_mla", 54_728), ("nvfp4_ds_mla", 30_712)]
)
def test_a_token_has_the_bytes_of_its_row_indexer_and_mtp(row: str, token_bytes: int) -> None:
    assert ladder(engine({**TP4, "kv-cache-dtype": row})).token_bytes == token_bytes


@pytest.mark.parametrize(
    ("gpu", "backend", "token_bytes"),
    [
        ("h200", None, 54_728),
        ("h200", "FLASHINFER_MLA_SPARSE_SM90", 48_408),
        ("gb200", None, 48_408),
        ("gb200", "FLASHINFER_MLA_SPARSE", 48_408),
        ("gb200", "FLASHMLA_SPARSE", 54_728),
    ],
)
def test_flashmla_makes_its_own_rows_of_fp8(gpu: str, backend: str | None, token_bytes: int) -> None:
    for row in ("fp8", "fp8_e4m3"):
        found = ladder(engine({**TP4, "kv-cache-dtype": row, "attention-backend": backend}, gpu))
        assert (found.token_bytes, found.row.cache_dtype == "fp8_ds_mla") == (token_bytes, token_bytes == 54_728)


def test_a_pipeline_stage_keeps_the_rows_of_its_layers() -> None:
    one, two = (ladder(engine({**TP4, "pipeline-parallel-size": stages})) for stages in (1, 2))
    assert (two.token_bytes, two.topology.gpus) == (15_356, 8)
    # All GPUs of a stage keep the same, and a token lies in both stages: the engine has what one GPU has.
    assert two.engine_tokens == two.gpu_tokens == two.kv_bytes // 15_356
    assert two.engine_tokens > 3 * one.engine_tokens


def test_an_older_name_of_mtp_is_mtp() -> None:
    older = {"speculative-config": {"method": "deepseek_mtp", "num_speculative_tokens": 3}}
    assert ladder(engine({**TP4, **older})) == ladder(engine(TP4))


def test_without_drafts_there_are_neither_mtp_weights_nor_mtp_rows() -> None:
    found = ladder(engine({**TP4, "speculative-config": None}))
    assert found.token_bytes == 30_712 - 352 - 132
    assert not [rung for rung in found.rungs if "MTP" in rung.name]


def test_attention_ranks_keep_about_five_times_what_tensor_ranks_do() -> None:
    # The write-up's figure for prefixes, DEP8 over TEP8: eight different caches for one, less what attention costs
    # each rank that has all of its weights.
    spread, tensor = (ladder(engine(flags, "h200", "fp8")) for flags in (DEP8, TEP8))
    assert spread.engine_tokens / tensor.engine_tokens == pytest.approx(5, abs=1)


def test_four_bit_rows_hold_half_as_much_again() -> None:
    small, large = (ladder(engine({**TP4, "kv-cache-dtype": row})) for row in ("fp8_e4m3", "nvfp4_ds_mla"))
    assert large.gpu_tokens / small.gpu_tokens == pytest.approx(1.576, abs=0.001)


def test_an_h200_that_prefills_has_some_15_gib_left() -> None:
    flags = {
        "prefill-context-parallel-size": 8,
        "decode-context-parallel-size": 8,
        "enable-expert-parallel": True,
        "kv-cache-dtype": "fp8_ds_mla",
        "max-num-batched-tokens": 8192,
        "max-model-len": 262_144,
        **MTP,
    }
    found = ladder(engine(flags, "h200", "fp8"))
    assert found.kv_bytes / GIB == pytest.approx(15, abs=1.5)
    # A session's tokens lie on eight ranks, so each has an eighth of them.
    assert found.sessions(262_144) == found.gpu_tokens // 32_768


def test_sessions_stay_whole_on_their_rank() -> None:
    found = ladder(engine(DEP8))
    assert found.sessions(found.gpu_tokens) == 8
    assert found.sessions(found.gpu_tokens + 1) == 0
    assert ladder(engine(TP4)).sessions(140_000) == ladder(engine(TP4)).gpu_tokens // 140_000


def test_what_is_assumed_can_be_given() -> None:
    assert ladder(engine(TP4)).kv_bytes - ladder(engine(TP4, assumed={"cuda-graphs": 3 * GIB})).kv_bytes == 2 * GIB


def test_eager_engines_have_no_graphs_and_single_gpus_no_collectives() -> None:
    names = {rung.name for rung in ladder(engine({"enforce-eager": True})).rungs if rung.kind == "assumed"}
    assert names == {"cuda-context", "activations"}


def test_an_engine_that_does_not_fit_says_what_it_lacks() -> None:
    found = ladder(engine({**TP4, "kv-cache-dtype": "fp8_ds_mla"}, "h200", "fp8"))
    assert found.kv_bytes < 0
    assert (found.gpu_tokens, found.missing_bytes) == (0, 1_048_576 * 54_728 - found.kv_bytes)
