from typing import Any

import pytest

from graphs.engines.transfer import children, names, transfer_config
from graphs.model import Role
from graphs.settings.vllm import VllmSettings

NIXL = {"kv_connector": "NixlConnector", "kv_role": "kv_producer"}


def made(
    *connectors: Any, role: Role = "prefill", on_gpu: bool = True, policy: str | None = None
) -> dict[str, Any] | None:
    given = {"connectors": list(connectors), "kv-load-failure-policy": policy}
    settings = VllmSettings.model_validate(given)
    return transfer_config(settings, role, on_gpu=on_gpu)


def test_one_connector_stands_alone_in_the_role_of_its_stage() -> None:
    assert made("nixl") == NIXL
    assert made("nixl", role="decode") == {"kv_connector": "NixlConnector", "kv_role": "kv_consumer"}


def test_several_are_children_of_a_multi_connector_in_their_order() -> None:
    assert made("nixl", "mooncake") == {
        "kv_connector": "MultiConnector",
        "kv_role": "kv_producer",
        "kv_connector_extra_config": {
            "connectors": [NIXL, {"kv_connector": "MooncakeStoreConnector", "kv_role": "kv_both"}]
        },
    }


def test_sizes_are_given_as_each_connector_takes_them() -> None:
    config = made({"hisparse": {"host-pool-gib": 48}}, "nixl", {"offload": {"gib": 16}}, role="decode")
    assert list(children(config)) == [
        {
            "kv_connector": "HiSparseConnector",
            "kv_role": "kv_both",
            "kv_connector_extra_config": {"host_pool_gib": 48.0},
        },
        {"kv_connector": "NixlConnector", "kv_role": "kv_consumer"},
        {
            "kv_connector": "OffloadingConnector",
            "kv_role": "kv_both",
            "kv_connector_extra_config": {"cpu_bytes_to_use": 17179869184},
        },
    ]


def test_options_that_are_not_typed_are_extra_keys_of_vllms() -> None:
    config = made({"nixl": {"num-threads": 8, "kv-lease-duration": 60}})
    assert config == NIXL | {"kv_connector_extra_config": {"num_threads": 8, "kv_lease_duration": 60}}


def test_an_engine_on_cpus_buffers_there() -> None:
    assert made("nixl", on_gpu=False) == NIXL | {"kv_buffer_device": "cpu"}
    assert made({"nixl": {"kv-buffer-device": "cpu"}}) == NIXL | {"kv_buffer_device": "cpu"}


@pytest.mark.parametrize("connectors", [("nixl",), ("nixl", "mooncake")])
def test_the_failure_policy_is_said_where_the_scheduler_reads_it(connectors: tuple[str, ...]) -> None:
    config = made(*connectors, policy="recompute")
    assert config is not None
    assert config["kv_load_failure_policy"] == "recompute"


def test_what_was_written_by_hand_is_left_alone() -> None:
    by_hand = {"kv_connector": "MultiConnector", "kv_connector_extra_config": {"connectors": [NIXL, 3]}}
    settings = VllmSettings.model_validate({"kv-transfer-config": by_hand})
    assert transfer_config(settings, "prefill", on_gpu=True) == by_hand
    assert names(by_hand) == ["NixlConnector"]
    assert names({"kv_connector": "MultiConnector", "kv_connector_extra_config": 3}) == []
    assert transfer_config(VllmSettings(), "prefill", on_gpu=True) is None
    assert names(None) == []
