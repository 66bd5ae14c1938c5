from collections.abc import Callable

import pytest

from graphs.commands.replay.cluster import cluster_of
from graphs.config import Config
from graphs.errors import Refusal
from router.costs import KV_TOKEN_BYTES, Costs
from router.replay.cluster import Cluster

Resolve = Callable[..., Config]

VLLM = """
Prefill:
  data-parallel-size: 16
  tensor-parallel-size: 2
  block-size: 128
  num-gpu-blocks-override: 1000
  max-num-batched-tokens: 2048
  ServiceArgs: {worker: vllm, workers: 2}
Decode:
  tensor-parallel-size: 8
  num-gpu-blocks-override: 5000
  max-num-seqs: 32
  ServiceArgs: {worker: vllm, workers: 3}
"""


def test_the_local_graph_is_read_as_it_is_written(configure: Resolve) -> None:
    cluster, costs = cluster_of(configure(), None, None)
    assert cluster == Cluster(rank_kv_tokens=16384 * 64)
    assert costs == Costs(budget_tokens=4096)
    assert cluster.gpus == 24


def test_what_a_configuration_does_not_say_is_the_standard(configure: Resolve) -> None:
    assert cluster_of(configure(text=""), None, None) == (Cluster(), Costs())


def test_vllm_flags_that_pass_as_they_are_count_too(configure: Resolve) -> None:
    cluster, costs = cluster_of(configure(text=VLLM), None, None)
    assert cluster == Cluster(
        prefill_engines=2,
        prefill_ranks=16,
        rank_gpus=2,
        rank_kv_tokens=128_000,
        decode_engines=3,
        decode_gpus=8,
        decode_kv_tokens=320_000,
        decode_slots=32,
    )
    assert costs.budget_tokens == 2048
    assert cluster.gpus == 2 * 16 * 2 + 3 * 8


def test_host_blocks_of_each_rank_are_one_tier_behind_all(configure: Resolve) -> None:
    cluster, costs = cluster_of(configure("--Prefill.num-host-blocks=1000"), None, None)
    assert cluster.host_tokens == costs.host_tokens == 8 * 1000 * 64


def test_flags_win_over_the_configuration(configure: Resolve) -> None:
    config = configure("--Prefill.num-host-blocks=1000")
    cluster, costs = cluster_of(config, 262_144, 512.0)
    assert cluster.rank_kv_tokens == 262_144
    assert cluster.host_tokens == costs.host_tokens == 512 * 2**30 // KV_TOKEN_BYTES
    assert cluster_of(config, None, 0.0)[0].host_tokens == 0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("--Decode.ServiceArgs.workers=0", "glm53 runs no decode service"),
        ("--Prefill.enable-prefix-caching=false", "enable-prefix-caching=false: Prefill.enable-prefix-caching is off"),
        ("--Decode.ServiceArgs.worker=vllm --Decode.max-num-seqs=x", "max-num-seqs=x: Decode.max-num-seqs must be a"),
    ],
)
def test_a_graph_that_cannot_be_replayed_is_refused(configure: Resolve, words: str, says: str) -> None:
    text = "" if "vllm" in words else None
    with pytest.raises(Refusal, match=says):
        cluster_of(configure(*words.split(), text=text), None, None)
