from pathlib import Path

import pytest

from graphs.memory import checkpoint, shapes
from graphs.memory.checkpoint import OTHER, Checkpoint
from graphs.memory.weights import CHECKPOINTS, Cut, parts
from tests.graphs.memory.weights_at_hand import TRANSFORMERS_BYTES, Tensors, model, mtp, save


def read(folder: Path, tensors: Tensors, shards: int = 1) -> Checkpoint:
    found = checkpoint.read(save(folder, tensors, shards), shapes.read(folder))
    assert found is not None
    return found


def test_every_byte_is_in_a_part(tmp_path: Path) -> None:
    found = read(tmp_path, model(), 3)
    assert found.files == 3
    assert sum(part.all_bytes for part in found.parts(mtp=False)) == found.all_bytes == TRANSFORMERS_BYTES
    assert (found.unknown, found.mtp, found.copied_bytes) == ((), (), 0)


def test_parts_by_hand(tmp_path: Path) -> None:
    sizes = {part.name: part.all_bytes for part in read(tmp_path, model()).own}
    assert sizes == {
        "routed experts": 4 * 4 * 3 * 64 * 32 * 2,
        "shared experts": 4 * 3 * 64 * 32 * 2,
        "dense layers": 3 * 64 * 96 * 2,
        "attention, heads": 5 * (192 * 48 + 96 * 512 + 64 * 32) * 2,
        "attention, low rank": 5 * (48 + 576) * 64 * 2,
        "indexers": 3 * (256 * 48 + 128 * 64 + 2 * 64 + 2 * 128) * 2,
        "gates and norms": (4 * (4 * 64 + 4) + 5 * (48 + 512 + 64 + 64) + 64) * 2,
        "embeddings and head": 2 * 160 * 64 * 2,
    }


def test_the_formulas_have_the_same_parts_and_sizes(tmp_path: Path) -> None:
    found = read(tmp_path, {**model(), **mtp()})
    computed = parts(shapes.read(tmp_path), CHECKPOINTS["bf16"], mtp=True)
    exact = {part.name: (part.parameters, part.cut, part.format.name) for part in found.parts(mtp=True)}
    # The formulas leave out two norms that no rung would show: the last one, and MTP's.
    for part in computed:
        parameters, cut, number_format = exact.pop(part.name)
        assert parameters - part.parameters == (64 if part.name in {"gates and norms", "MTP, the rest"} else 0)
        assert (cut, number_format) == (part.cut, "bf16")
    assert exact == {}


def test_copies_that_vllm_shares_are_no_part_and_mtp_only_where_it_is_used(tmp_path: Path) -> None:
    found = read(tmp_path, {**model(), **mtp()})
    assert found.copied_bytes == 2 * 160 * 64 * 2
    with_mtp, without = (sum(part.all_bytes for part in found.parts(mtp=used)) for used in (True, False))
    assert (without, with_mtp) == (TRANSFORMERS_BYTES, found.all_bytes - found.copied_bytes)


@pytest.mark.parametrize(
    ("number_format", "experts_bytes", "scales_bytes"),
    # A scale for each matrix of 64 x 32 in fp8; in nvfp4 a byte for 16 values, and two of 4 bytes a matrix.
    [("fp8", 48 * (2048 + 4), 48 * 4), ("nvfp4", 48 * (1024 + 128 + 8), 48 * 136)],
)
def test_scales_belong_to_their_matrices(
    tmp_path: Path, number_format: str, experts_bytes: int, scales_bytes: int
) -> None:
    found = read(tmp_path, model(number_format))
    experts = next(part for part in found.own if part.cut is Cut.EXPERT)
    assert (experts.all_bytes, experts.parameters) == (experts_bytes, 48 * 2048)
    assert experts.scales_bytes == scales_bytes
    assert (experts.format.name, found.format) == (number_format, number_format)


def test_names_that_are_not_known_are_a_part_of_their_own(tmp_path: Path) -> None:
    strange: Tensors = {
        "model.layers.0.self_attn.k_scale": ("float32", ()),
        "model.layers.9.self_attn.o_proj.weight": ("bfloat16", (4, 4)),
        "vision.patch.weight": ("bfloat16", (10,)),
    }
    found = read(tmp_path, {**model(), **strange})
    other = next(part for part in found.own if part.name == OTHER)
    assert (set(found.unknown), other.all_bytes, other.cut) == (set(strange), 4 + 32 + 20, Cut.WHOLE)
    assert sum(part.all_bytes for part in found.own) == found.all_bytes
