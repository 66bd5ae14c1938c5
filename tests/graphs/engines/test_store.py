import json
from pathlib import Path
from typing import Any

import pytest

from graphs.engines.store import client_file, joined
from graphs.settings.mooncake_client import MooncakeClientSettings
from tests.graphs.conftest import Resolve

RUN_DIR = Path("/run/graph")


def written(configure: Resolve, *words: str) -> dict[str, Any]:
    ((path, text),) = client_file(configure(*words), RUN_DIR).items()
    assert path == RUN_DIR / "mooncake.json"
    return dict(json.loads(text))


def test_clients_are_told_where_the_store_is_and_how_much_they_give(configure: Resolve) -> None:
    words = ("--Mooncake.rpc-port=5001", "--Mooncake.protocol=rdma", "--Mooncake.global-segment-size=140gb")
    assert written(configure, *words) == {
        "master_server_address": "127.0.0.1:5001",
        "metadata_server": "http://127.0.0.1:8080/metadata",
        "protocol": "rdma",
        "device_name": "",
        "mode": "embedded",
        "global_segment_size": "140gb",
        "local_buffer_size": "1gb",
    }


def test_without_a_metadata_server_clients_shake_hands(configure: Resolve) -> None:
    assert written(configure, "--Mooncake.enable-http-metadata-server=false")["metadata_server"] == "P2PHANDSHAKE"


@pytest.mark.parametrize(
    ("address", "shown"),
    [("0.0.0.0", "127.0.0.1:50051"), ("::1", "[::1]:50051"), ("10.0.0.1", "10.0.0.1:50051")],  # noqa: S104 - not bound.
)
def test_an_address_is_written_as_a_client_can_use_it(configure: Resolve, address: str, shown: str) -> None:
    assert written(configure, f"--Mooncake.rpc-address={address}")["master_server_address"] == shown


def test_memory_of_its_own_is_told_where_the_master_is_unless_a_person_says_so(configure: Resolve) -> None:
    config = configure("--Mooncake.rpc-port=5001", "--Mooncake.protocol=rdma")
    told = joined(config, MooncakeClientSettings())
    assert (told.master_server_address, told.protocol) == ("127.0.0.1:5001", "rdma")
    by_hand = MooncakeClientSettings.model_validate({"master-server-address": "10.0.0.1:5", "protocol": "tcp"})
    assert joined(config, by_hand).master_server_address == "10.0.0.1:5"
    assert joined(config, by_hand).protocol == "tcp"
    assert joined(configure(), by_hand) == by_hand


def test_a_graph_without_a_store_writes_nothing(configure: Resolve) -> None:
    assert client_file(configure(), RUN_DIR) == {}
