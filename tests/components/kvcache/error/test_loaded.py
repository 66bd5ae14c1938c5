from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import LlamaConfig

from components.kvcache.error.loaded import load_model, text_tokens
from components.kvcache.error.small import small_model
from tests.components.kvcache.error.checkpoint import save_checkpoint


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model")
    save_checkpoint(path)
    return path


def test_the_weights_are_those_of_the_folder(folder: Path) -> None:
    found = load_model(folder).state_dict()
    wanted = small_model(64, 16, 3).state_dict()
    assert found.keys() == wanted.keys()
    assert all(torch.equal(found[name], wanted[name]) for name in wanted)


def test_a_text_is_cut_to_the_tokens_that_are_needed(folder: Path) -> None:
    assert text_tokens(folder, "one three two one", 3).tolist() == [0, 2, 1]


def test_a_text_that_is_too_short_is_refused(folder: Path) -> None:
    with pytest.raises(
        ValueError, match=r"^it has 2 tokens where 1,000 are needed: give a longer one, or less --context$"
    ):
        text_tokens(folder, "one two", 1000)


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^there is no config\.json: give the folder of a checkpoint$"):
        load_model(tmp_path)
    with pytest.raises(ValueError, match=r"^there is no tokenizer\.json in .*: give the folder of a whole checkpoint$"):
        text_tokens(tmp_path, "one", 1)


def test_another_architecture_is_refused(tmp_path: Path) -> None:
    LlamaConfig().save_pretrained(tmp_path)
    with pytest.raises(ValueError, match=r"^its architecture is llama: give a checkpoint of glm_moe_dsa$"):
        load_model(tmp_path)


def test_other_sizes_of_latents_are_refused(tmp_path: Path) -> None:
    config = small_model(64, 16, 0).config
    config.kv_lora_rank = 256
    config.save_pretrained(tmp_path)
    with pytest.raises(ValueError, match=r"^it caches 256 \+ 64 values a token, and KV rows have 512 \+ 64$"):
        load_model(tmp_path)


@pytest.mark.parametrize(
    "config", ["{", "[]", "{}", '{"model_type": "another"}', '{"model_type": "glm_moe_dsa", "hidden_size": "x"}']
)
def test_a_config_that_is_none_is_refused_in_a_line(tmp_path: Path, config: str) -> None:
    (tmp_path / "config.json").write_text(config)
    with pytest.raises(ValueError, match=r"^[^\n]+$"):
        load_model(tmp_path)


def test_weights_that_are_cut_off_are_refused_in_a_line(tmp_path: Path) -> None:
    save_checkpoint(tmp_path)
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:100])
    with pytest.raises(ValueError, match=r"^[^\n]+$"):
        load_model(tmp_path)


def test_a_checkpoint_that_lacks_a_tensor_is_refused(tmp_path: Path) -> None:
    save_checkpoint(tmp_path)
    weights = load_file(tmp_path / "model.safetensors")
    del weights["model.layers.1.self_attn.kv_b_proj.weight"]
    save_file(weights, tmp_path / "model.safetensors", metadata={"format": "pt"})
    lacks = (
        r"^it lacks model\.layers\.1\.self_attn\.kv_b_proj\.weight and 0 others: give the folder of a whole checkpoint$"
    )
    with pytest.raises(ValueError, match=lacks):
        load_model(tmp_path)


def test_a_tokenizer_that_is_none_is_refused_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(ValueError, match=r"tokenizer\.json is no tokenizer: [^\n]+$"):
        text_tokens(tmp_path, "one", 1)


def test_a_config_without_weights_is_refused_in_a_line(tmp_path: Path) -> None:
    small_model(64, 16, 0).config.save_pretrained(tmp_path)
    with pytest.raises(ValueError, match=r"^[^\n]+$"):
        load_model(tmp_path)
