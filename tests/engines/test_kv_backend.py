"""Our sparse-MLA backend for NVFP4 rows, against vLLM 0.31.0's registry, selector, layer, builder and cache."""

import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import components.kvcache.vllm_backend as plugin
from tests.engines.commands import workers
from tests.engines.pretending import engine_config, pretend

pytestmark = [pytest.mark.filterwarnings("default"), pytest.mark.timeout(300)]

ROOT = Path(__file__).parents[2]
LOADED = """\
import sys
from vllm.plugins import load_general_plugins
load_general_plugins()
from vllm.v1.attention.backends.registry import AttentionBackendEnum
print(AttentionBackendEnum.CUSTOM.get_path())
print(sorted(name for name in sys.modules if name.startswith("components.kvcache")))
print("torch" in sys.modules and sys.modules["torch"].cuda.is_initialized())
"""


@pytest.fixture
def custom() -> Any:
    """The registry's free name, as it was found afterwards."""
    member: Any = import_module("vllm.v1.attention.backends.registry").AttentionBackendEnum.CUSTOM
    before = member.get_path() if member.is_overridden() else None
    member.clear_override()
    yield member
    member.clear_override()
    if before:
        import_module("vllm.v1.attention.backends.registry").register_backend(member, before)


def select(patch: pytest.MonkeyPatch, capability: tuple[int, int], **changes: Any) -> str:
    """What the CUDA platform says to `--attention-backend CUSTOM` for a layer of GLM-5.3, with changes."""
    torch: Any = import_module("torch")
    config: Any = import_module("vllm.config")
    selector: Any = import_module("vllm.v1.attention.selector")
    registry: Any = import_module("vllm.v1.attention.backends.registry")
    plugin.register()
    asked = {"head_size": 576, "dtype": torch.bfloat16, "kv_cache_dtype": "nvfp4_ds_mla", "block_size": 64}
    layer = selector.AttentionSelectorConfig(**asked, use_mla=True, use_sparse=True)._replace(**changes)
    with patch.context() as inner, config.set_current_vllm_config(config.VllmConfig()):
        pretend(inner, capability)
        platforms: Any = import_module("vllm.platforms")
        found: str = platforms.current_platform.get_attn_backend_cls(registry.AttentionBackendEnum.CUSTOM, layer, 64)
    return found


def test_vllm_loads_the_plugin_and_nothing_behind_it() -> None:
    found = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True, cwd=ROOT)
    path, ours, cuda = found.stdout.splitlines()[-3:]
    assert path == "components.kvcache.vllm_backend.backend.Nvfp4SparseBackend"
    assert ours == "['components.kvcache', 'components.kvcache.vllm_backend']"
    assert cuda == "False"


def test_it_may_be_registered_any_number_of_times(custom: Any) -> None:
    plugin.register()
    plugin.register()
    assert custom.get_class().get_name() == "CUSTOM"


def test_another_plugins_backend_stays(custom: Any, caplog: pytest.LogCaptureFixture) -> None:
    registry: Any = import_module("vllm.v1.attention.backends.registry")
    registry.register_backend(custom, "elsewhere.Backend")
    plugin.register()
    assert custom.get_path() == "elsewhere.Backend"
    assert "CUSTOM is elsewhere.Backend, of another plugin" in caplog.text


@pytest.mark.parametrize("capability", [(9, 0), (10, 0), (10, 3), (12, 0)])
def test_vllm_selects_it_for_nvfp4_rows(
    custom: Any, monkeypatch: pytest.MonkeyPatch, capability: tuple[int, int]
) -> None:
    assert select(monkeypatch, capability) == custom.get_path()


@pytest.mark.parametrize(
    ("capability", "changes", "reason"),
    [
        ((8, 9), {}, "compute capability not supported"),
        ((9, 0), {"kv_cache_dtype": "fp8_ds_mla"}, "kv_cache_dtype not supported"),
        ((9, 0), {"head_size": 512}, "head_size not supported"),
        ((9, 0), {"block_size": 32}, "block_size not supported"),
        ((9, 0), {"use_sparse": False}, "non-sparse not supported"),
        ((9, 0), {"use_pcp": True}, "PCP not supported"),
        ((9, 0), {"use_dcp": True}, "DCP not supported"),
    ],
)
@pytest.mark.usefixtures("custom")
def test_vllm_refuses_it_for_anything_else(
    monkeypatch: pytest.MonkeyPatch, capability: tuple[int, int], changes: dict[str, Any], reason: str
) -> None:
    with pytest.raises(ValueError, match="is not valid for this configuration") as refusal:
        select(monkeypatch, capability, **changes)
    assert reason in str(refusal.value)


@pytest.mark.parametrize(("capability", "alignment"), [((9, 0), None), ((10, 0), 352), ((12, 0), None)])
def test_blocks_are_whole_rows_apart_where_other_kernels_count_in_rows(
    monkeypatch: pytest.MonkeyPatch, capability: tuple[int, int], alignment: int | None
) -> None:
    interface: Any = import_module("vllm.v1.kv_cache_interface")
    torch: Any = import_module("torch")
    backend: Any = import_module("components.kvcache.vllm_backend.backend").Nvfp4SparseBackend
    spec = interface.MLAAttentionSpec(
        block_size=64,
        num_kv_heads=1,
        head_size=576,
        dtype=torch.uint8,
        cache_dtype_str="nvfp4_ds_mla",
        state_content_bytes=352,
    )
    with monkeypatch.context() as inner:
        pretend(inner, capability)
        found = backend.customize_spec(spec)
    assert (found.block_stride_alignment, found.page_size_bytes) == (alignment, 64 * 352)


@pytest.mark.usefixtures("custom")
def test_vllm_says_what_is_wrong_with_the_table(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    backend: Any = import_module("components.kvcache.vllm_backend.backend")
    read = import_module("components.kvcache.choice").read
    bad = tmp_path / "choice.json"
    bad.write_text("[{}]")
    monkeypatch.setattr(backend, "read", lambda: read(bad))
    with pytest.raises(ValueError, match=r"choice\.json: Object missing required field `capability`"):
        select(monkeypatch, (9, 0))


@pytest.mark.usefixtures("custom")
def test_the_configuration_for_h200_reaches_it(models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for process in workers("h200-dp8-nvfp4", models, tmp_path):
        config = engine_config(monkeypatch, "h200-dp8-nvfp4", process)
        assert config.attention_config.backend.name == "CUSTOM"
        assert config.cache_config.cache_dtype == "nvfp4_ds_mla"


@pytest.fixture(scope="module")
def interpreted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a step of three requests comes to on CPU tensors."""
    env = os.environ | {"TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": "", "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, "-m", "tests.engines.interpreted", str(tmp_path_factory.mktemp("interpreted"))]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env=env)
    assert run.returncode == 0, run.stderr[-4000:]
    found: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return found


def test_vllm_gives_it_a_cache_of_rows_of_352_bytes(interpreted: dict[str, Any]) -> None:
    # Three layers' pages of 64 rows and one of indexer keys make a block.
    assert interpreted["cache"] == {"shape": [12, 64, 352], "strides": [3 * 64 * 352 + 64 * 132, 352, 1]}


def test_what_the_layer_writes_is_what_it_was_given_to_four_bits(interpreted: dict[str, Any]) -> None:
    # 9.5 % on normal latents is the format's own error; a row at a wrong slot would be 140 %.
    assert 0.08 < interpreted["written"] < 0.1


def test_short_turns_and_decodes_are_one_part_of_a_step(interpreted: dict[str, Any]) -> None:
    decodes, prefills, decode_tokens, chunks = interpreted["split"]
    assert (decodes, prefills, decode_tokens, chunks) == (2, 1, 5, 0)
    assert interpreted["short_turn_tokens"] == 128


def test_attention_is_that_of_the_rows_as_stored(interpreted: dict[str, Any]) -> None:
    assert interpreted["stored"]["torch.float32"] < 1e-5
    # The interpreter cuts bf16 off where a GPU rounds: 2^-8 at each end.
    assert interpreted["stored"]["torch.bfloat16"] < 2**-7


def test_long_turns_pass_through_the_workspace_to_the_same_result(interpreted: dict[str, Any]) -> None:
    assert interpreted["long_turns"]["tokens"] == [5, 25]
    assert interpreted["long_turns"]["starts"] == [0, 200]
    assert interpreted["long_turns"]["error"] < 2**-7
    assert interpreted["long_turns"]["padded_error"] < 2**-7


def test_the_kernels_of_others_are_asked_for_the_same(interpreted: dict[str, Any]) -> None:
    assert set(interpreted["others"]) == {"flashmla", "flashinfer"}
    # bf16, rounded here.
    assert all(error < 2**-8 for error in interpreted["others"].values())


def test_flashinfer_counts_as_installed_with_its_source(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    others: Any = import_module("components.kvcache.vllm_backend.others")
    package = tmp_path / "flashinfer"
    kernel = package / "experimental" / "nvfp4_sparse_mla_decode"
    kernel.mkdir(parents=True)
    (package / "__init__.py").touch()
    (kernel / "jit.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    assert not others.has_flashinfer()
    (kernel / "csrc").mkdir()
    (kernel / "csrc" / "nvfp4_sparse_mla_decode.cu").touch()
    assert others.has_flashinfer()
    assert [str(each) for each in others.available((10, 0), 16)].count("flashinfer") == 1
    assert others.available((10, 0), 64) == others.available((9, 0), 16) == {"triton"}


def test_flashinfer_gets_the_largest_e4m3_for_what_is_larger(monkeypatch: pytest.MonkeyPatch) -> None:
    torch: Any = import_module("torch")
    others: Any = import_module("components.kvcache.vllm_backend.others")
    given: list[Any] = []
    mla: Any = ModuleType("flashinfer.mla")
    mla.nvfp4_sparse_mla_decode = lambda query, *_, **__: given.append(query)
    monkeypatch.setitem(sys.modules, "flashinfer.mla", mla)
    query = torch.zeros(1, 16, 576, dtype=torch.bfloat16)
    query[0, 0, :4] = torch.tensor([1e4, -500.0, 448.0, 1.5])
    others.flashinfer(query, None, None, scale=1.0, out=None)
    assert given[0].float()[0, 0, :5].tolist() == [448.0, -448.0, 448.0, 1.5, 0.0]


def test_the_table_of_kernels_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    impl: Any = import_module("components.kvcache.vllm_backend.impl")
    choice: Any = import_module("components.kvcache.choice")
    row = choice.Choice("10.x", (16, 16), (8, None), choice.Kernel.FLASHMLA, "a test")
    tables = [(row,)]
    monkeypatch.setattr(impl, "read", tables.pop)
    for cached in (impl._table, impl._kernel):
        cached.cache_clear()
    try:
        found = [impl._kernel((10, 0), 16, tokens, frozenset(choice.Kernel)) for tokens in (7, 8, 9)]
    finally:
        for cached in (impl._table, impl._kernel):
            cached.cache_clear()
    assert found == ["triton", "flashmla", "flashmla"]


def test_the_models_fused_kernel_writes_through_ours(interpreted: dict[str, Any]) -> None:
    found = interpreted["fused"]
    assert found["query_rows"] == 3
    assert 0.08 < found["latent"] < 0.1
    assert found["rope"] < 2**-4
    assert found["others_unchanged"]


def test_vllms_fused_kernel_is_built_for_hopper_only_without_its_write(tmp_path: Path) -> None:
    env = os.environ | {"CUDA_VISIBLE_DEVICES": "", "TRITON_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "tests.engines.fused_kernel"]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env=env)
    assert run.returncode == 0, run.stderr[-4000:]
    found = json.loads(run.stdout.splitlines()[-1])
    assert found["auto"] == {"90": None, "100": None, "120": None}
    assert found["nvfp4_ds_mla"]["100"] is found["nvfp4_ds_mla"]["120"] is None
    assert "not supported on .target 'sm_90a'" in found["nvfp4_ds_mla"]["90"]
