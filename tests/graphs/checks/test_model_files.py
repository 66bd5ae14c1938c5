from pathlib import Path

import pytest

from graphs import standin
from graphs.checks.model_files import models
from tests.graphs.conftest import Resolve


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "stand-in"
    standin.make(path)
    return path


def told(configure: Resolve, model: object) -> list[str]:
    config = configure(f"--Common.model-path={model}")
    return [str(check) for check in models(config.services)]


def test_the_stand_in_is_made_and_a_whole_folder_is_good(configure: Resolve, folder: Path) -> None:
    assert told(configure, "stand-in") == ["model: stand-in, made at the start"]
    assert told(configure, folder) == [f"model: {folder}"]


def test_a_hub_id_is_left_to_the_worker(configure: Resolve) -> None:
    assert told(configure, "zai-org/GLM-5.3") == ["model: zai-org/GLM-5.3, from the Hugging Face hub or its cache"]


def test_a_folder_that_is_not_there_is_refused(configure: Resolve, tmp_path: Path) -> None:
    (line,) = told(configure, tmp_path / "none")
    assert line == (
        f"model: Prefill.model-path {tmp_path / 'none'} is no folder: give a model's folder or its id on the hub"
    )


@pytest.mark.parametrize("missing", ["tokenizer.json", "tokenizer_config.json", "config.json"])
def test_a_folder_with_a_file_missing_is_refused(
    configure: Resolve, folder: Path, tmp_path: Path, missing: str
) -> None:
    for path in folder.iterdir():
        if path.name != missing:
            (tmp_path / path.name).write_bytes(path.read_bytes())
    (line,) = told(configure, tmp_path)
    assert line.startswith(f"model: {tmp_path} has no {missing}: point ")


def test_a_file_that_is_no_json_is_refused(configure: Resolve, folder: Path, tmp_path: Path) -> None:
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "config.json").write_text("version https://git-lfs.github.com/spec/v1\n")
    assert told(configure, tmp_path) == [f"model: {tmp_path / 'config.json'} is no JSON: fetch the file again"]


def test_a_worker_without_a_model_is_refused(configure: Resolve) -> None:
    lines = [str(check) for check in models(configure(text="").services)]
    assert lines == [
        "model: Prefill has none: set Prefill.model-path",
        "model: Decode has none: set Decode.model-path",
    ]
