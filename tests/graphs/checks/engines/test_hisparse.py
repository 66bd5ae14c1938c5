import pytest

from tests.graphs.checks.engines.conftest import Refused

HISPARSE = "--Decode.connectors=[{hisparse: {host-pool-gib: 48}}, nixl, {offload: {gib: 16}}]"
POOL = "{kv_connector: HiSparseConnector, kv_role: kv_both}"
NIXL = "{kv_connector: NixlConnector, kv_role: kv_consumer}"


def test_a_decoder_may_spill_to_the_host(refused: Refused) -> None:
    assert refused(HISPARSE) == []


@pytest.mark.parametrize(
    ("word", "problem"),
    [
        ("--Decode.decode-context-parallel-size=2", "HiSparse does not go with DCP"),
        ("--Decode.pipeline-parallel-size=2", "HiSparse does not go with pipeline parallelism"),
        (
            "--Common.kv-cache-dtype=nvfp4_ds_mla",
            "nvfp4_ds_mla, and only rows of fp8_ds_mla can be gathered from the host",
        ),
        ("--Common.kv-cache-layout=LBNHC", "LBNHC; HiSparse takes BLHNC"),
        ("--Decode.model-runner-v2=false", "HiSparse is there in the second model runner only"),
        ("--Decode.scheduler-reserve-full-isl=false", "HiSparse would wait for host pages for ever"),
        ("--Decode.disable-hybrid-kv-cache-manager", "HiSparse needs the hybrid KV cache manager"),
        ("--Decode.compilation-config={cudagraph_mode: FULL}", "FULL, in which HiSparse does not copy prompts"),
        ("--Decode.ServiceArgs.resources.gpu=0", "HiSparse needs NVIDIA GPUs"),
        ("--Prefill.connectors=[nixl, {hisparse: {host-pool-gib: 8}}]", "HiSparse is for decode"),
    ],
)
def test_what_does_not_go_with_it_is_refused(refused: Refused, word: str, problem: str) -> None:
    assert [line for line in refused(HISPARSE, word) if problem in line]


@pytest.mark.parametrize(
    ("children", "problem"), [(f"{POOL}, {NIXL}", "has no host_pool_gib"), (f"{POOL}, {POOL}, {NIXL}", "2 times")]
)
def test_a_pool_by_hand_is_one_and_has_a_size(refused: Refused, children: str, problem: str) -> None:
    multi = "kv_connector: MultiConnector, kv_role: kv_consumer, kv_connector_extra_config: "
    by_hand = f"--Decode.kv-transfer-config={{{multi} {{connectors: [{children}]}}}}"
    lines = refused("--Decode.connectors=", by_hand)
    assert [line for line in lines if problem in line]


def test_its_tuning_without_its_connector_is_refused(refused: Refused) -> None:
    (line,) = refused("--Decode.attention-config={hisparse_config: {eager_host_mirror: true}}")
    assert line.endswith("hisparse_config needs its connector: add hisparse to connectors")
