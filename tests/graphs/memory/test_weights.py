import pytest

from graphs.memory.shapes import KNOWN
from graphs.memory.weights import CHECKPOINTS, Cut, active_parameters, format_of, parts

GLM = KNOWN["GLM-5.3"]


def test_all_parts_come_to_the_published_parameters() -> None:
    found = parts(GLM, CHECKPOINTS["bf16"], mtp=False)
    # vLLM's recipe of GLM-5.3: 743 B, 39 B of them active.
    assert sum(part.parameters for part in found) == pytest.approx(743e9, rel=0.001)
    assert active_parameters(GLM) == pytest.approx(39e9, rel=0.01)


@pytest.mark.parametrize(
    ("name", "mtp", "gigabytes"),
    # The recipe's memory for each, which is 1.2 times the weights; 465 GB is `Inferact/GLM-5.3-NVFP4`.
    [("bf16", False, 1786 / 1.2), ("fp8", False, 893 / 1.2), ("nvfp4", True, 465)],
)
def test_all_parts_come_to_the_published_sizes(name: str, mtp: bool, gigabytes: float) -> None:
    found = parts(GLM, CHECKPOINTS[name], mtp=mtp)
    assert sum(part.all_bytes for part in found) / 1e9 == pytest.approx(gigabytes, rel=0.003)


def test_mtp_is_a_layer_with_experts_of_its_own() -> None:
    with_mtp = {part.name: part for part in parts(GLM, CHECKPOINTS["fp8"], mtp=True)}
    assert with_mtp["MTP, routed experts"].parameters * 75 == with_mtp["routed experts"].parameters
    assert len(with_mtp) == len(parts(GLM, CHECKPOINTS["fp8"], mtp=False)) + 3


def test_heads_and_experts_are_cut_and_what_all_ranks_need_is_not() -> None:
    cuts = {part.name: part.cut for part in parts(GLM, CHECKPOINTS["fp8"], mtp=True)}
    assert cuts["routed experts"] is cuts["MTP, routed experts"] is Cut.EXPERT
    assert cuts["attention, heads"] is cuts["embeddings and head"] is Cut.TENSOR
    assert cuts["attention, low rank"] is cuts["indexers"] is Cut.WHOLE


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("zai-org/GLM-5.3", "fp8"),
        ("zai-org/GLM-5.3-BF16", "bf16"),
        ("Inferact/GLM-5.3-NVFP4", "nvfp4"),
        ("RedHatAI/GLM-5.2-NVFP4-FP8", "nvfp4"),
        ("zai-org/GLM-5.2-FP8", "fp8"),
        ("zai-org/GLM-5.2", "bf16"),
        ("zai-org/GLM-5", "bf16"),
    ],
)
def test_a_checkpoints_name_says_its_format(model: str, name: str) -> None:
    assert format_of(model) == name
