from pathlib import Path

import pytest

from graphs import environment
from tests.graphs.conftest import Resolve

RUN_DIR = Path("/run/graph")


def test_one_machine_uses_a_private_folder_and_loopback(configure: Resolve) -> None:
    env = environment.shared(configure(), RUN_DIR)
    assert env["DYN_DISCOVERY_BACKEND"] == "file"
    assert env["DYN_FILE_KV"] == "/run/graph/store"
    hosts = ("DYN_TCP_RPC_HOST", "DYN_TCP_RESPONSE_STREAM_HOST", "DYN_EVENT_PLANE_HOST")
    assert {env[name] for name in hosts} == {"127.0.0.1"}
    assert not {"ETCD_ENDPOINTS", "NATS_SERVER"} & set(env)


def test_several_machines_meet_in_etcd_and_nats_on_their_own_addresses(configure: Resolve) -> None:
    config = configure(
        "--Runtime.discovery-backend=etcd",
        "--Runtime.etcd-endpoints=http://a:2379",
        "--Runtime.event-plane=nats",
        "--Runtime.nats-server=nats://b:4222",
    )
    env = environment.shared(config, RUN_DIR)
    assert env["ETCD_ENDPOINTS"] == "http://a:2379"
    assert env["NATS_SERVER"] == "nats://b:4222"
    assert env["DYN_EVENT_PLANE"] == "nats"
    assert not {"DYN_FILE_KV", "DYN_TCP_RPC_HOST", "DYN_SELF_HOST_METADATA"} & set(env)


def test_a_shared_folder_replaces_the_private_one(configure: Resolve) -> None:
    env = environment.shared(configure("--Runtime.store-path=/shared/store"), RUN_DIR)
    assert env["DYN_FILE_KV"] == "/shared/store"
    assert "DYN_TCP_RPC_HOST" not in env


def test_prefix_hashes_are_equal_in_all_processes(configure: Resolve) -> None:
    assert environment.shared(configure(), RUN_DIR)["PYTHONHASHSEED"] == "0"


def test_a_worker_shows_itself_by_request_plane_or_status_server(configure: Resolve) -> None:
    assert environment.of_endpoint(configure().runtime, 20001) == {"DYN_TCP_RPC_PORT": "20001"}
    for word in ("--Runtime.discovery-backend=etcd", "--Runtime.request-plane=nats"):
        assert environment.of_endpoint(configure(word).runtime, 20001)["DYN_SYSTEM_PORT"] == "20001"


def test_a_status_server_is_on_loopback_unless_other_machines_need_it(configure: Resolve) -> None:
    assert environment.of_status(configure().runtime, 20001)["DYN_SYSTEM_HOST"] == "127.0.0.1"
    among_machines = environment.of_status(configure("--Runtime.discovery-backend=etcd").runtime, 20001)
    assert among_machines["DYN_SYSTEM_PORT"] == "20001"
    assert "DYN_SYSTEM_HOST" not in among_machines


def test_what_dynamo_leaves_behind_is_left_in_the_runs_folder(configure: Resolve) -> None:
    env = environment.shared(configure(), RUN_DIR)
    assert (env["TMPDIR"], env["HOME"]) == ("/run/graph", "/run/graph")


def test_a_real_model_keeps_the_users_home_with_its_model_cache(configure: Resolve) -> None:
    assert "HOME" not in environment.shared(configure("--Common.model-path=zai-org/GLM-5.3"), RUN_DIR)


def test_dynamo_is_quiet_unless_the_user_says_otherwise(configure: Resolve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DYN_LOG", raising=False)
    assert environment.shared(configure(), RUN_DIR)["DYN_LOG"].startswith("warn,")
    monkeypatch.setenv("DYN_LOG", "debug")
    assert environment.shared(configure(), RUN_DIR)["DYN_LOG"] == "debug"
