import pytest

from graphs.checks.engines.engine import engines
from graphs.checks.engines.rows import rows
from graphs.machine import Machine
from tests.graphs.checks.engines.conftest import PAIR, Refused
from tests.graphs.conftest import Resolve

NVFP4 = "--Common.kv-cache-dtype=nvfp4_ds_mla"
OURS = "--Common.attention-backend=CUSTOM"
CPU = ("--Prefill.ServiceArgs.resources.gpu=0", "--Decode.ServiceArgs.resources.gpu=0")
PLAIN = """\
Prefill: {model: m, connectors: [nixl], ServiceArgs: {worker: vllm, resources: {gpu: 0}}}
Decode: {model: m, connectors: [nixl], ServiceArgs: {worker: vllm, resources: {gpu: 0}}}
"""


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ((NVFP4, "--Common.attention-backend=FLASHINFER_MLA_SPARSE"), "only FLASHMLA_SPARSE reads it"),
        (("--Common.attention-backend=FLASHINFER_MLA_SPARSE",), "FLASHINFER_MLA_SPARSE does not read fp8_ds_mla"),
        ((NVFP4, OURS, "--Common.block-size=32"), "32, and sparse kernels and the indexer read blocks of 64 tokens"),
        (("--Common.block-size=32",), "32, and sparse kernels and the indexer read blocks of 64 tokens: set 64"),
        (("--Common.kv-cache-layout=",), "not set; vLLM lays MLA out layer by layer (LBNHC)"),
        (CPU, "vLLM has no sparse attention on CPU"),
    ],
)
def test_a_row_that_nobody_could_read_is_refused_on_both_sides(
    refused: Refused, words: tuple[str, ...], problem: str
) -> None:
    assert len([line for line in refused(*words) if problem in line]) == 2


@pytest.mark.parametrize(
    ("word", "problem"),
    [
        ("block-size=16", "16, and on CPU it is a multiple of 32: set 32"),
        ("kv-cache-layout=BLHNC", "BLHNC is not there on CPU: leave it out"),
    ],
)
def test_an_engine_on_cpus_takes_what_its_kernels_take(refused: Refused, word: str, problem: str) -> None:
    lines = refused(f"--Prefill.{word}", f"--Decode.{word}", text=PLAIN)
    assert len([line for line in lines if problem in line]) == 2
    assert refused("--Prefill.block-size=64", "--Decode.block-size=64", text=PLAIN) == []


def test_latents_on_cpus_have_blocks_of_sixteen(refused: Refused) -> None:
    mla = ("--Prefill.attention-backend=CPU_MLA", "--Decode.attention-backend=CPU_MLA")
    lines = refused(*mla, "--Prefill.block-size=32", "--Decode.block-size=32", text=PLAIN)
    assert len([line for line in lines if "CPU_MLA has blocks of 16 tokens whatever it is told: set 16" in line]) == 2
    assert refused(*mla, "--Prefill.block-size=16", "--Decode.block-size=16", text=PLAIN) == []


@pytest.mark.parametrize(("capability", "ok"), [((10, 0), True), ((10, 3), True), ((9, 0), False), ((12, 0), False)])
def test_nvfp4_rows_are_for_blackwell(refused: Refused, capability: tuple[int, int], ok: bool) -> None:
    lines = [line for line in refused(NVFP4, capability=capability) if "GPUs" in line]
    assert len(lines) == (0 if ok else 2)


@pytest.mark.parametrize(
    ("capability", "ok"), [((9, 0), True), ((10, 0), True), ((12, 0), True), ((8, 9), False), ((11, 0), False)]
)
def test_our_backend_has_kernels_for_hopper_too(refused: Refused, capability: tuple[int, int], ok: bool) -> None:
    lines = refused(NVFP4, OURS, capability=capability)
    assert len(lines) == (0 if ok else 2)


def test_on_hopper_our_backend_is_what_is_advised(refused: Refused) -> None:
    (prefill, _) = refused(NVFP4, capability=(9, 0))
    assert prefill.endswith(
        "compute capability 9.0: nvfp4_ds_mla needs compute capability 10.x (B200, GB200, B300) with vLLM's kernels: "
        "set Prefill.attention-backend to CUSTOM, which is ours, or kv-cache-dtype to fp8_ds_mla"
    )


def test_our_backend_reads_no_other_rows(refused: Refused) -> None:
    lines = refused(OURS)
    assert len([line for line in lines if "CUSTOM, which reads nvfp4_ds_mla and nothing else" in line]) == 2


@pytest.mark.parametrize(
    ("plugins", "ok"), [("", False), ("lora", False), ("dynamo_glm", True), ("x,dynamo_glm", True)]
)
def test_our_backend_is_there_when_vllm_loads_the_plugin(
    refused: Refused, monkeypatch: pytest.MonkeyPatch, plugins: str, ok: bool
) -> None:
    monkeypatch.setenv("VLLM_PLUGINS", plugins)
    lines = [line for line in refused(NVFP4, OURS) if "add dynamo_glm to it, or leave it out" in line]
    assert len(lines) == (0 if ok else 2)


def test_what_could_not_be_looked_at_is_said(configure: Resolve) -> None:
    found = list(rows(engines(configure(NVFP4, text=PAIR)), Machine()))
    assert [(check.ok, check.name) for check in found] == [(True, "Prefill GPUs"), (True, "Decode GPUs")]
    assert found[0].found.startswith(
        "not looked at, for want of nvidia-smi: nvfp4_ds_mla needs compute capability 10.x"
    )
