from graphs.engines import ports
from tests.graphs.conftest import Resolve

ENGINE = "Prefill: {model: m, data-parallel-size: 8, ServiceArgs: {worker: vllm}}\n"


def wanted(configure: Resolve, *words: str, text: str | None = ENGINE) -> dict[str, int]:
    services = {each.service.name: each for each in configure(*words, text=text).services}
    return ports.wanted(services["Prefill"])


def test_a_mock_engine_shows_itself_on_one_port(configure: Resolve) -> None:
    assert wanted(configure, text=None) == {"endpoint": 1}


def test_an_engine_has_a_port_for_each_rank_of_what_it_publishes(configure: Resolve) -> None:
    words = ("--Prefill.connectors=[mooncake, nixl]", "--Prefill.kv-events", "--Prefill.forward-pass-metrics")
    assert wanted(configure, *words) == {
        "status": 1,
        "NIXL side channel": 8,
        "KV events": 8,
        "forward-pass metrics": 8,
    }


def test_ranks_of_other_machines_have_theirs_in_the_same_run(configure: Resolve) -> None:
    words = ("--Prefill.connectors=[nixl]", "--Prefill.data-parallel-size-local=4")
    assert wanted(configure, *words)["NIXL side channel"] == 8


def test_what_was_written_by_hand_names_its_own_ports(configure: Resolve) -> None:
    by_hand = (
        "--Prefill.kv-transfer-config={kv_connector: NixlConnector, kv_role: kv_producer}",
        "--Prefill.kv-events-config={endpoint: 'tcp://*:5557'}",
        "--Prefill.kv-events",
    )
    assert set(wanted(configure, *by_hand)) == {"status", "NIXL side channel"}


def test_the_first_port_of_the_settings_shows_that_a_service_is_ready(configure: Resolve) -> None:
    config = configure("--Mooncake.rpc-port=5001", "--MooncakeClient.port=5002", "--Frontend.http-port=9000")
    first = {each.service.name: ports.named(each)[:1] for each in config.services}
    assert first == {
        "Frontend": [("127.0.0.1", "http-port", 9000)],
        "Prefill": [],
        "Decode": [],
        "Mooncake": [("127.0.0.1", "rpc-port", 5001)],
        "MooncakeClient": [("127.0.0.1", "port", 5002)],
    }


def test_services_whose_settings_name_their_ports_are_given_none(configure: Resolve) -> None:
    services = {each.service.name: each for each in configure("--Mooncake.rpc-port=5001").services}
    assert ports.wanted(services["Frontend"]) == ports.wanted(services["Mooncake"]) == {}
