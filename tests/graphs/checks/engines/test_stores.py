import pytest

from tests.graphs.checks.engines.conftest import Refused

STORE = "--Prefill.connectors=[nixl, mooncake]"
MASTER = "--Mooncake.rpc-port=5001"


def test_a_connector_and_its_store_belong_together(refused: Refused) -> None:
    assert refused(STORE, MASTER) == []
    (line,) = refused(STORE)
    assert line.endswith("Prefill.connectors: MooncakeStoreConnector has no store: add a Mooncake service to the file")
    (line,) = refused(MASTER)
    assert line == "Mooncake service: no engine uses it: add mooncake to Prefill.connectors, or leave it out"


def test_a_store_of_ones_own_is_named_by_its_file(refused: Refused, monkeypatch: pytest.MonkeyPatch) -> None:
    assert refused(STORE, "--Prefill.ServiceArgs.envs={MOONCAKE_CONFIG_PATH: /etc/mooncake.json}") == []
    monkeypatch.setenv("MOONCAKE_CONFIG_PATH", "/etc/mooncake.json")
    assert refused(STORE) == []


def test_a_store_is_for_the_graph_also_where_only_decode_starts(refused: Refused) -> None:
    assert refused(STORE, MASTER, only="Decode") == []


def test_among_machines_its_addresses_are_reached_from_all(refused: Refused) -> None:
    words = (STORE, MASTER, "--Runtime.discovery-backend=etcd", "--Prefill.side-channel-host=192.0.2.1")
    assert [line.partition(":")[0] for line in refused(*words)] == [
        "Mooncake.rpc-address",
        "Mooncake.http-metadata-server-host",
    ]
    hosts = ("--Mooncake.rpc-address=192.0.2.1", "--Mooncake.http-metadata-server-host=192.0.2.1")
    assert refused(*words, *hosts) == []
    assert refused(*words, hosts[0], "--Mooncake.enable-http-metadata-server=false") == []


def test_a_store_apart_needs_memory_of_its_own(refused: Refused) -> None:
    apart = (STORE, MASTER, "--Mooncake.mode=standalone-store")
    (line,) = refused(*apart)
    assert line == "Mooncake.mode: standalone-store, and nobody gives it memory: add a MooncakeClient service"
    assert refused(*apart, "--MooncakeClient.global-segment-size=1GB") == []


def test_mock_engines_may_run_beside_a_store(refused: Refused) -> None:
    assert refused(MASTER, text="") == []
