from typing import Any

import pytest
from pydantic import ValidationError

from graphs.settings.vllm import VllmSettings


def settings(**values: Any) -> VllmSettings:
    return VllmSettings.model_validate({name.replace("_", "-"): value for name, value in values.items()})


def test_any_flag_of_vllm_passes() -> None:
    given = settings(
        model="zai-org/GLM-5.3",
        tensor_parallel_size=4,
        enable_expert_parallel=True,
        enable_prefix_caching=False,
        kv_transfer_config={"kv_connector": "NixlConnector"},
        numa_bind=True,
        swap_space=3,
    )
    assert given.arguments() == (
        "--model",
        "zai-org/GLM-5.3",
        "--tensor-parallel-size",
        "4",
        "--enable-expert-parallel",
        "--no-enable-prefix-caching",
        "--kv-transfer-config",
        '{"kv_connector":"NixlConnector"}',
        "--numa-bind",
        "--swap-space",
        "3",
    )
    assert VllmSettings.open()


def test_what_the_launcher_renders_is_no_argument() -> None:
    given = settings(
        connectors=["nixl"],
        kv_events=True,
        forward_pass_metrics=True,
        kv_cache_layout="BLHNC",
        model_runner_v2=True,
        side_channel_host="10.0.0.1",
        kv_load_failure_policy="recompute",
    )
    assert given.arguments() == ()


@pytest.mark.parametrize(
    "wrong",
    [
        {"kv_cache_dtype": "nvfp4_dsmla"},
        {"all2all_backend": "pplx"},
        {"kv_cache_layout": "HND"},
        {"dcp_comm_backend": "ag"},
        {"side_channel_host": "node1"},
        {"gpu_memory_utilization": 1.5},
        {"max_num_batched_tokens": 0},
    ],
)
def test_what_vllm_has_no_such_value_of_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        settings(**wrong)


@pytest.mark.parametrize(
    ("sizes", "ranks", "local", "gpus"),
    [
        ({}, 1, 1, 1),
        ({"tensor_parallel_size": 4}, 1, 1, 4),
        ({"data_parallel_size": 8}, 8, 8, 8),
        ({"data_parallel_size": 8, "data_parallel_size_local": 4}, 8, 4, 4),
        ({"data_parallel_size": 8, "data_parallel_rank": 3}, 8, 1, 1),
        ({"prefill_context_parallel_size": 8, "decode_context_parallel_size": 8}, 1, 1, 8),
        ({"tensor_parallel_size": 2, "pipeline_parallel_size": 2, "data_parallel_size": 2}, 2, 2, 8),
    ],
)
def test_sizes_make_ranks_and_gpus(sizes: dict[str, int], ranks: int, local: int, gpus: int) -> None:
    given = settings(**sizes)
    assert (given.ranks, given.local_ranks, given.gpus) == (ranks, local, gpus)
