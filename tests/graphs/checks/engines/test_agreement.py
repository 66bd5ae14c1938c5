import pytest

from tests.graphs.checks.engines.conftest import Refused


@pytest.mark.parametrize(
    "word",
    [
        "--Decode.model=n",
        "--Decode.dtype=bfloat16",
        "--Decode.kv-cache-dtype=fp8",
        "--Decode.kv-cache-layout=BLNHC",
        "--Decode.attention-backend=FLASH_ATTN_MLA_SPARSE",
        "--Decode.speculative-config={method: mtp, num_speculative_tokens: 3}",
        "--Decode.disable-hybrid-kv-cache-manager=true",
    ],
)
def test_stages_that_differ_are_refused_at_the_place_of_decode(refused: Refused, word: str) -> None:
    (line,) = [line for line in refused(word) if line.endswith("give both one value, in Common")]
    assert line.startswith(f"{word}: Decode.")
    assert "Prefill." in line


def test_a_block_size_that_one_side_leaves_to_vllm_is_refused(refused: Refused) -> None:
    text = "Prefill: {model: m, connectors: [nixl], block-size: 64, ServiceArgs: {worker: vllm}}\n"
    decode = "Decode: {model: m, connectors: [nixl], ServiceArgs: {worker: vllm}}\n"
    (line,) = refused(text=text + decode)
    assert line.startswith("Decode.block-size: the default, and ")
    assert line.endswith(".yaml:1: Prefill.block-size is 64; NIXL moves whole blocks: give both one value, in Common")


def test_the_number_of_drafted_tokens_may_differ(refused: Refused) -> None:
    drafts = (
        f"--{stage}.speculative-config={{method: mtp, num_speculative_tokens: {count}}}"
        for stage, count in (("Prefill", 1), ("Decode", 3))
    )
    assert refused(*drafts) == []


def test_both_stages_take_one_way(refused: Refused) -> None:
    by_hand = "{kv_connector: MooncakeConnector, kv_role: kv_consumer}"
    (line,) = refused("--Decode.connectors=", f"--Decode.kv-transfer-config={by_hand}")
    assert "decode takes KV from MooncakeConnector and prefill gives it to NixlConnector" in line


def test_one_stage_alone_has_nothing_to_agree_with(refused: Refused) -> None:
    assert refused("--Decode.ServiceArgs.workers=0") == []
