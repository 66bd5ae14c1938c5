import json
from pathlib import Path

import pytest

from graphs.errors import Refusal
from graphs.memory.headers import Tensor, read
from tests.graphs.memory.weights_at_hand import TRANSFORMERS_BYTES, model, mtp, save, write


def refusal(folder: Path) -> str:
    with pytest.raises(Refusal) as caught:
        read(folder)
    (problem,) = caught.value.problems
    assert "\n" not in problem
    return problem.removeprefix(f"--model {folder}")


@pytest.mark.parametrize("shards", [1, 3])
def test_tensors_are_those_that_safetensors_wrote(tmp_path: Path, shards: int) -> None:
    found = read(save(tmp_path, model(), shards))
    assert found is not None
    assert (found.files, sum(tensor.size_bytes for tensor in found.tensors)) == (shards, TRANSFORMERS_BYTES)
    assert {tensor.name for tensor in found.tensors} == set(model())
    assert Tensor("model.layers.0.self_attn.kv_b_proj.weight", "BF16", 96 * 512, 98_304) in found.tensors


def test_packed_and_scaled_tensors_keep_the_types_of_the_file(tmp_path: Path) -> None:
    found = read(save(tmp_path, mtp("nvfp4")))
    assert found is not None
    dtypes = {tensor.name.partition(".experts.3.up_proj.")[2]: tensor.dtype for tensor in found.tensors}
    assert [dtypes[leaf] for leaf in ("weight", "weight_scale", "weight_scale_2")] == ["U8", "F8_E4M3", "F32"]


def test_a_folder_without_weights_has_none(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    assert read(tmp_path) is None


def test_no_byte_of_a_tensor_is_read(tmp_path: Path) -> None:
    path = save(tmp_path, model()) / "model.safetensors"
    size, header = path.stat().st_size, int.from_bytes(path.read_bytes()[:8], "little")
    with path.open("r+b") as file:
        # What is left of the file is a hole: its length, and nothing on disk.
        file.truncate(8 + header)
        file.truncate(size)
    assert read(tmp_path) is not None


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    (save(tmp_path, model(), 3) / "model-00002-of-00003.safetensors").unlink()
    assert refusal(tmp_path) == ": 1 of 3 files are missing, such as model-00002-of-00003.safetensors"
    (tmp_path / "model.safetensors.index.json").unlink()
    assert refusal(tmp_path) == ": file 2 of 3 is missing, and so is model.safetensors.index.json"


def test_a_file_that_was_cut_says_how_much_is_there(tmp_path: Path) -> None:
    path = save(tmp_path, model()) / "model.safetensors"
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 1000)
    assert refusal(tmp_path) == "/model.safetensors: cut: 1,460,376 bytes of tensors, and its header says 1,461,376"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "its 0 bytes hold no safetensors header"),
        (b"version https://git-lfs.github.com/spec/v1\n", "its 43 bytes hold no safetensors header"),
        (b"\x04" + b"\0" * 7 + b"{}}}", "its safetensors header: JSON is malformed"),
        (b"\x04" + b"\0" * 7 + b'{"\xff"', "its safetensors header: "),
        (b"\x02" + b"\0" * 7 + b"{}" + b"\0" * 5, "too long: 5 bytes of tensors, and its header says 0"),
    ],
)
def test_what_is_no_safetensors_file_is_one_line(tmp_path: Path, content: bytes, says: str) -> None:
    (tmp_path / "model.safetensors").write_bytes(content)
    assert says in refusal(tmp_path)


@pytest.mark.parametrize("offsets", [[0, 4], [8, 16], [0, -8]])
def test_a_tensor_of_a_wrong_size_or_place_is_named(tmp_path: Path, offsets: list[int]) -> None:
    header = json.dumps({"a": {"dtype": "BF16", "shape": [2, 2], "data_offsets": offsets}}).encode()
    (tmp_path / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + b"\0" * 8)
    assert "/model.safetensors: a has a wrong size or place" in refusal(tmp_path)


def test_an_index_and_its_files_must_agree(tmp_path: Path) -> None:
    index = save(tmp_path, model(), 2) / "model.safetensors.index.json"
    placed = json.loads(index.read_text())["weight_map"]
    index.write_text(json.dumps({"weight_map": {**placed, "ghost": "model-00001-of-00002.safetensors"}}))
    assert refusal(tmp_path).startswith("/model-00001-of-00002.safetensors: lacks ghost")
    index.write_text(json.dumps({"weight_map": {**placed, "ghost": "../elsewhere"}}))
    assert "ghost is in '../elsewhere'" in refusal(tmp_path)
    index.write_text("{")
    assert refusal(tmp_path).startswith("/model.safetensors.index.json: ")


def test_two_checkpoints_in_one_folder_are_refused(tmp_path: Path) -> None:
    write(save(tmp_path, model()) / "consolidated.safetensors", model())
    assert refusal(tmp_path) == ": a tensor is in two of its files: leave one checkpoint in the folder"
