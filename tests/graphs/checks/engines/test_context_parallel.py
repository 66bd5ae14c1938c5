import pytest

from tests.graphs.checks.engines.conftest import Refused

TOGETHER = (
    "--Frontend.kv-cache-block-size=512",
    "--Prefill.data-parallel-size=1",
    "--Prefill.prefill-context-parallel-size=8",
    "--Prefill.decode-context-parallel-size=8",
    "--Prefill.dcp-comm-backend=ag_rs",
)
MTP = tuple(
    f"--{stage}.speculative-config={{method: mtp, num_speculative_tokens: 1}}" for stage in ("Prefill", "Decode")
)


def test_prefill_and_decode_context_parallelism_go_together(refused: Refused) -> None:
    assert refused(*TOGETHER) == []
    assert refused(*TOGETHER, *MTP) == []


def test_the_frontend_counts_in_the_blocks_of_all_ranks_together(refused: Refused) -> None:
    (line,) = refused(*TOGETHER, "--Frontend.kv-cache-block-size=64")
    assert line == "Frontend.kv-cache-block-size: 64, and a block over 8 DCP ranks has 512 tokens: set 512"


@pytest.mark.parametrize(
    ("word", "problem"),
    [
        ("--Prefill.dcp-comm-backend=", "Prefill.dcp-comm-backend: a2a, which is the default of GLM; "),
        ("--Prefill.dcp-comm-backend=a2a", "a2a; FLASHMLA_SPARSE has ag_rs: set ag_rs"),
        ("--Prefill.tensor-parallel-size=2", "8 with PCP 8 and TP 2; "),
        ("--Prefill.decode-context-parallel-size=4", "4 with PCP 8 and TP 1; "),
        ("--Common.kv-cache-dtype=nvfp4_ds_mla", "nvfp4_ds_mla, and DCP gathers rows as fp8_ds_mla"),
        ("--Common.attention-backend=FLASHINFER_MLA_SPARSE", "FLASHINFER_MLA_SPARSE has no PCP with DCP"),
        ("--Common.attention-backend=CUSTOM", "CUSTOM, which is ours, has no PCP"),
        ("--Common.attention-backend=CUSTOM", "CUSTOM, which is ours, has no DCP"),
        ("--Prefill.model-runner-v2=false", "PCP is there in the second model runner only"),
        ("--Prefill.pipeline-parallel-size=2", "it does not go with pipeline parallelism"),
        ("--Prefill.speculative-config={method: eagle}", "PCP does not draft by eagle"),
        (
            "--Prefill.compilation-config={cudagraph_mode: FULL}",
            "FULL, and PCP has full CUDA graphs for decode steps only",
        ),
        ("--Prefill.decode-context-parallel-size=1", "sparse MLA with PCP and without DCP has no CUDA graphs"),
        ("--Prefill.connectors=[{nixl: {bidirectional-kv-xfer: true}}]", "PCP moves KV one way"),
        ("--Decode.prefill-context-parallel-size=2", "NixlConnector has PCP on prefill engines only"),
    ],
)
def test_what_does_not_go_with_them_is_refused(refused: Refused, word: str, problem: str) -> None:
    assert [line for line in refused(*TOGETHER, word) if problem in line]


def test_without_decode_context_parallelism_there_are_no_graphs_at_all(refused: Refused) -> None:
    pcp = ("--Prefill.data-parallel-size=1", "--Prefill.prefill-context-parallel-size=8")
    assert refused(*pcp, "--Prefill.enforce-eager") == []


def test_decode_context_parallelism_alone_divides_tensor_ranks(refused: Refused) -> None:
    words = ("--Decode.decode-context-parallel-size=3", "--Decode.dcp-comm-backend=ag_rs")
    (line,) = refused(*words)
    assert line.endswith("3 does not divide tensor-parallel-size 4: choose a divisor")


def test_a_draft_layer_under_dcp_needs_a_block_outermost_layout(refused: Refused) -> None:
    lines = refused(*TOGETHER, *MTP, "--Common.kv-cache-layout=")
    assert [line for line in lines if "the draft layer's pages have another size" in line]
