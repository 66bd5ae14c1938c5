import pytest

from graphs.memory.shapes import KNOWN
from graphs.memory.topology import Topology, impossible, topology
from graphs.memory.weights import Cut
from graphs.settings.vllm import VllmSettings

TP4 = Topology(tensor=4)
DEP8 = Topology(data=8, spread=True)
TEP8 = Topology(tensor=8, spread=True)
# Experts are spread within a stage.
STAGES = Topology(data=200, pipeline=2, spread=True)
DCP8 = Topology(prefill_context=8, decode_context=8, spread=True)


@pytest.mark.parametrize(
    ("ranks", "name", "gpus"),
    [
        (Topology(), "TP1", 1),
        (TP4, "TP4", 4),
        (DEP8, "DEP8", 8),
        (TEP8, "TEP8", 8),
        (Topology(tensor=2, data=4, spread=True), "DEP4xTP2", 8),
        (DCP8, "PCP8xDCP8xEP8", 8),
        (Topology(tensor=4, pipeline=2), "TP4xPP2", 8),
        (Topology(prefill_context=8, decode_context=8, pipeline=2, spread=True), "PCP8xDCP8xEP8xPP2", 16),
    ],
)
def test_a_topology_has_the_name_that_people_give_it(ranks: Topology, name: str, gpus: int) -> None:
    assert (ranks.name, ranks.gpus) == (name, gpus)


@pytest.mark.parametrize(
    ("ranks", "tensor", "expert", "whole"),
    [
        (TP4, 4, 4, 1),
        (DEP8, 1, 8, 1),
        (TEP8, 8, 8, 1),
        (DCP8, 1, 8, 1),
        # Slices of every expert over both, as vLLM's `FusedMoEParallelConfig` says of TP 2 and DP 2 without EP.
        (Topology(tensor=2, data=2), 2, 4, 1),
    ],
)
def test_weights_are_cut_over_the_ranks_of_their_kind(ranks: Topology, tensor: int, expert: int, whole: int) -> None:
    assert (ranks.shards(Cut.TENSOR), ranks.shards(Cut.EXPERT), ranks.shards(Cut.WHOLE)) == (tensor, expert, whole)


@pytest.mark.parametrize(("ranks", "copies", "groups"), [(TP4, 4, 1), (DEP8, 1, 8), (TEP8, 8, 1), (DCP8, 1, 8)])
def test_tensor_ranks_keep_the_same_latent_and_others_their_own(ranks: Topology, copies: int, groups: int) -> None:
    assert (ranks.kv_copies, ranks.kv_groups) == (copies, groups)


def test_it_is_read_from_vllms_flags() -> None:
    flags = {"data-parallel-size": 8, "enable-expert-parallel": True, "tensor-parallel-size": 1}
    assert topology(VllmSettings.model_validate(flags)) == DEP8
    assert topology(VllmSettings()) == Topology()


@pytest.mark.parametrize(
    "ranks", [TP4, DEP8, TEP8, DCP8, STAGES, Topology(tensor=8, decode_context=4), Topology(pipeline=78)]
)
def test_ranks_that_vllm_takes_are_possible(ranks: Topology) -> None:
    assert impossible(ranks, KNOWN["GLM-5.3"]) is None


@pytest.mark.parametrize(
    ("ranks", "why"),
    [
        (Topology(tensor=3), "tensor-parallel-size 3: it has to divide the 64 attention heads"),
        (Topology(tensor=128), "tensor-parallel-size 128: it has to divide the 64 attention heads"),
        (
            Topology(tensor=4, decode_context=3),
            "decode-context-parallel-size 3: it has to divide the 4 ranks of tensor",
        ),
        (
            Topology(prefill_context=8, decode_context=4),
            "decode-context-parallel-size 4: with prefill-context-parallel",
        ),
        (Topology(pipeline=79), "pipeline-parallel-size 79: there are 78 layers"),
        (Topology(data=300, spread=True), "enable-expert-parallel: over 300 ranks, and there are 256 experts"),
    ],
)
def test_ranks_that_no_engine_has_say_why(ranks: Topology, why: str) -> None:
    assert (impossible(ranks, KNOWN["GLM-5.3"]) or "").startswith(why)
