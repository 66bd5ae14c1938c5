import json
from pathlib import Path

import msgspec
import pytest

from components.kvcache.rows import GLM_5, GLM_5_3
from graphs.errors import Refusal
from graphs.memory.shapes import ARCHITECTURE, KNOWN, known, read


def write(folder: Path, **changes: object) -> Path:
    config = {"model_type": ARCHITECTURE, **msgspec.to_builtins(KNOWN["GLM-5.3"]), **changes}
    (folder / "config.json").write_text(json.dumps({name: value for name, value in config.items() if value != "none"}))
    return folder


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("zai-org/GLM-5.3", "GLM-5.3"),
        ("Inferact/GLM-5.3-NVFP4", "GLM-5.3"),
        ("/models/GLM-5/", "GLM-5"),
        ("nvidia/GLM-5-NVFP4", "GLM-5"),
        ("zai-org/GLM-5.2-FP8", "GLM-5.2"),
    ],
)
def test_a_checkpoint_is_known_by_its_name(model: str, name: str) -> None:
    assert known(model) == KNOWN[name]


@pytest.mark.parametrize("model", ["zai-org/GLM-5.3-Flash", "GLM-4.7", "zai-org/GLM-5.30", "./models/tiny-dense"])
def test_another_model_is_not_taken_for_one(model: str) -> None:
    assert known(model) is None


def test_its_kv_layers_are_those_of_the_rows() -> None:
    assert (KNOWN["GLM-5.3"].kv, KNOWN["GLM-5"].kv) == (GLM_5_3, GLM_5)


@pytest.mark.parametrize("name", ["", "config.json"])
def test_a_checkpoints_own_config_is_read(tmp_path: Path, name: str) -> None:
    shapes = read(write(tmp_path, num_hidden_layers=5) / name)
    assert (shapes.num_hidden_layers, shapes.hidden_size, shapes.name) == (5, 6144, tmp_path.name)


def test_without_index_sharing_every_layer_has_an_indexer(tmp_path: Path) -> None:
    shapes = read(write(tmp_path, index_topk_freq="none", index_skip_topk_offset="none"))
    assert len(shapes.kv.indexer_layers) == 78


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"model_type": "llama"}, "model_type is 'llama', and 'glm_moe_dsa' is wanted"),
        ({"hidden_size": "none", "vocab_size": "none"}, "lacks hidden_size, vocab_size"),
        ({"index_head_dim": 128, "hidden_size": -1}, "too small: hidden_size"),
        ({"kv_lora_rank": 256}, r"its KV has \(256, 64, 128\) values, and only rows of \(512, 64, 128\) are known"),
        ({"hidden_size": None}, "lacks hidden_size"),
        ({"index_topk_freq": 0}, "too small: index_topk_freq"),
        ({"first_k_dense_replace": 79}, "first_k_dense_replace is 79, of 78 num_hidden_layers"),
        ({"num_experts_per_tok": 257}, "num_experts_per_tok is 257, of 256 n_routed_experts"),
        ({"hidden_size": "wide"}, r"Expected `int`, got `str` - at `\$.hidden_size`"),
    ],
)
def test_another_config_is_refused(tmp_path: Path, changes: dict[str, object], says: str) -> None:
    with pytest.raises(Refusal, match=says):
        read(write(tmp_path, **changes))


def test_a_config_that_is_not_there_or_no_json_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="No such file or directory; name a checkpoint's folder"):
        read(tmp_path)
    for text, says in (("{", "not JSON"), ("[1]", "not a JSON object"), ("\xff", "not JSON")):
        (tmp_path / "config.json").write_text(text, encoding="latin-1")
        with pytest.raises(Refusal, match=says):
            read(tmp_path)
