"""A model's folder, and what is missing from a bad one."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from components.frontend.model import ModelFolderError, ServedModel


@pytest.fixture
def copy(folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(folder, tmp_path / "model"))


def edit(path: Path, **fields: Any) -> None:
    content = {**json.loads(path.read_text()), **fields}
    path.write_text(json.dumps({name: value for name, value in content.items() if value is not None}))


def test_the_folder_tells_end_tokens_and_context(model: ServedModel) -> None:
    names = {model.tokenizer.id_to_token(id_) for id_ in model.eos_token_ids}

    assert names == {"<|endoftext|>", "<|user|>", "<|observation|>"}
    assert model.context_length == 262_144


def test_a_given_context_length_comes_before_the_folders(folder: Path) -> None:
    assert ServedModel(folder, "glm", 4096).context_length == 4096


@pytest.mark.parametrize("name", ["tokenizer.json", "config.json", "tokenizer_config.json"])
def test_a_missing_file_is_named(copy: Path, name: str) -> None:
    (copy / name).unlink()

    with pytest.raises(ModelFolderError, match=name):
        ServedModel(copy, "glm")


def test_a_folder_without_a_template_is_refused(copy: Path) -> None:
    (copy / "chat_template.jinja").unlink()

    with pytest.raises(ModelFolderError, match="no chat template"):
        ServedModel(copy, "glm")


@pytest.mark.parametrize("template", ["{{ 1 }}", [{"name": "default", "template": "{{ 1 }}"}]])
def test_the_template_may_stand_in_the_tokenizers_configuration(copy: Path, template: Any) -> None:
    (copy / "chat_template.jinja").unlink()
    edit(copy / "tokenizer_config.json", chat_template=template)

    assert ServedModel(copy, "glm").template.render([], None) == "1"


def test_one_end_token_is_a_list_of_one(copy: Path) -> None:
    edit(copy / "generation_config.json", eos_token_id=3000)

    assert ServedModel(copy, "glm").eos_token_ids == [3000]


def test_no_end_token_anywhere_is_refused(copy: Path) -> None:
    edit(copy / "generation_config.json", eos_token_id=None)
    edit(copy / "config.json", eos_token_id=None)

    with pytest.raises(ModelFolderError, match="eos_token_id"):
        ServedModel(copy, "glm")


def test_no_context_length_anywhere_is_refused(copy: Path) -> None:
    edit(copy / "config.json", max_position_embeddings=None)

    with pytest.raises(ModelFolderError, match="--context-length"):
        ServedModel(copy, "glm")
