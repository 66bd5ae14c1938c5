"""What our rules refuse before the start, vLLM and NIXL refuse too: neither stricter than they are, nor out of date."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from graphs.checks.engines.rules import rules
from graphs.machine import Machine
from tests.engines.commands import configuration, workers
from tests.engines.pretending import engine_config, nixl_hash

pytestmark = [pytest.mark.filterwarnings("default"), pytest.mark.timeout(300)]


def refused(name: str, word: str) -> list[str]:
    hosts = ("--Prefill.side-channel-host=192.0.2.1", "--Decode.side-channel-host=192.0.2.2")
    found = rules(configuration(name, *hosts, word), Machine(capability=(9, 0)))
    return [str(check) for check in found if not check.ok]


@dataclass(frozen=True)
class Case:
    """A setting, with what we say of it and what vLLM says."""

    setting: str
    ours: str
    theirs: str
    name: str = "h200-pcp8-dcp8"


CASES = [
    Case("Prefill.dcp-comm-backend=a2a", "set ag_rs", "requires dcp_comm_backend='ag_rs'"),
    Case("Prefill.decode-context-parallel-size=4", "TP 1 and DCP = PCP", "When PCP is enabled, DCP must be"),
    Case("Prefill.model-runner-v2=false", "second model runner", "prefill context parallel"),
    Case("Prefill.pipeline-parallel-size=2", "pipeline parallelism", "does not support PP"),
    Case("Prefill.compilation-config={cudagraph_mode: FULL}", "decode steps only", "FULL_DECODE_ONLY"),
    Case("Prefill.decode-context-parallel-size=1", "has no CUDA graphs", "does not support CUDA graphs yet"),
    Case(
        "Prefill.speculative-config={method: ngram, num_speculative_tokens: 2, prompt_lookup_max: 2}",
        "does not draft by ngram",
        "speculative method 'ngram'",
    ),
    Case("Decode.pipeline-parallel-size=2", "pipeline parallelism", "does not support pipeline parallelism"),
    Case("Decode.model-runner-v2=false", "second model runner", "requires Model Runner V2"),
    Case("Decode.scheduler-reserve-full-isl=false", "host pages", "requires --scheduler-reserve-full-isl"),
    Case("Decode.disable-hybrid-kv-cache-manager=true", "hybrid KV cache", "requires the hybrid KV cache manager"),
    Case("Prefill.data-parallel-hybrid-lb=true", "needs data-parallel-size-local", "size-local`", "h200-dp8"),
    Case("Prefill.decode-context-parallel-size=3", "does not divide", "must be divisible by dcp_size", "h200-dp8"),
    Case("Prefill.data-parallel-external-lb=true", "needs data-parallel-rank", "data-parallel rank", "h200-dp8"),
    Case("Prefill.spec-tokens=2", "give one of the two", "num_speculative_tokens", "h200-dp8"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.setting)
def test_vllm_refuses_what_a_rule_refuses(
    case: Case, models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    word = f"--{case.setting}"
    assert any(case.ours in line for line in refused(case.name, word))
    by_service = {each.service: each for each in workers(case.name, models, tmp_path, word)}
    with pytest.raises(Exception) as refusal:  # noqa: PT011 - vLLM has no class of its own for it; the text is compared.
        engine_config(monkeypatch, case.name, by_service[case.setting.partition(".")[0]])
    assert case.theirs in str(refusal.value)


@pytest.mark.parametrize(
    "setting",
    [
        "kv-cache-dtype=fp8_ds_mla",
        "attention-backend=FLASHINFER_MLA_SPARSE",
        "model=MODEL",
        "speculative-config=",
    ],
)
def test_nixl_refuses_stages_that_a_rule_finds_different(
    setting: str, models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "same-model").symlink_to(tmp_path / "glm")
    word = f"--Decode.{setting.replace('MODEL', str(tmp_path / 'same-model'))}"
    assert any("Decode." in line and "Prefill." in line for line in refused("gb200-1p4d", word))
    hashes = {
        nixl_hash(engine_config(monkeypatch, "gb200-1p4d", each))
        for each in workers("gb200-1p4d", models, tmp_path, word)
    }
    assert len(hashes) == len(["prefill", "decode"])
