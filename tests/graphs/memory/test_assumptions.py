import pytest

from graphs.memory.assumptions import assumptions, budget_tokens, step_requests
from graphs.memory.devices import GIB, Device, device
from graphs.memory.shapes import KNOWN
from graphs.memory.topology import Topology
from graphs.settings.vllm import VllmSettings


@pytest.mark.parametrize(
    ("gpu", "tokens", "requests"),
    # vLLM 0.31 `EngineArgs.get_batch_defaults`, of its server: from 160 GiB on, from 70 GiB on, below.
    [
        (device("gb200"), 16_384, 1_024),
        (device("b200"), 16_384, 1_024),
        (device("h200"), 8_192, 1_024),
        (device("h100"), 8_192, 1_024),
        (Device("small", 48 * GIB), 2_048, 256),
    ],
)
def test_a_step_is_as_large_as_vllm_makes_it_on_such_a_gpu(gpu: Device, tokens: int, requests: int) -> None:
    assert (budget_tokens(VllmSettings(), gpu), step_requests(VllmSettings(), gpu)) == (tokens, requests)


def test_flags_beat_the_gpu_and_no_step_has_more_requests_than_tokens() -> None:
    settings = VllmSettings.model_validate({"max-num-batched-tokens": 512})
    assert (budget_tokens(settings, device("h200")), step_requests(settings, device("h200"))) == (512, 512)
    assert step_requests(VllmSettings.model_validate({"max-num-seqs": 3}), device("h200")) == 3


def test_activations_by_hand() -> None:
    settings = VllmSettings.model_validate({"max-num-batched-tokens": 1_000, "max-num-seqs": 10})
    found = {each.name: each for each in assumptions(settings, KNOWN["GLM-5.3"], Topology(tensor=4), device("h200"))}
    # Four hidden states, two absorbed queries of 64 x 576, and nine experts' in, gate and up; ten rows of fp32 logits.
    step = 1_000 * 2 * (4 * 6_144 + 2 * 36_864 + 9 * (6_144 + 4_096))
    assert found["activations"].size_bytes == step + 10 * 154_880 * 4
    assert set(found) == {"cuda-context", "activations", "collectives", "cuda-graphs"}
