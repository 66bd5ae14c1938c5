"""Every command that the configurations render, against the parsers and the checks of Dynamo 1.6.1 and vLLM 0.31.0."""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from graphs.engines import ports
from tests.engines.commands import with_engines, workers
from tests.engines.pretending import engine_config, nixl_hash

NAMES = with_engines()
# vLLM and what it imports warn of each other; that is not ours to mend. It is imported once, for all of them.
pytestmark = [pytest.mark.filterwarnings("default"), pytest.mark.timeout(300)]


@pytest.mark.parametrize("name", NAMES)
def test_dynamo_and_vllm_accept_every_command(
    name: str, models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prefill, decode = (engine_config(monkeypatch, name, each) for each in workers(name, models, tmp_path))
    assert prefill.kv_transfer_config.kv_role == "kv_producer"
    assert decode.kv_transfer_config.kv_role == "kv_consumer"


def test_an_unknown_flag_is_seen(
    models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    prefill, _ = workers("gb200-1p4d", models, tmp_path, "--Prefill.kv-dtype=fp8")
    with pytest.raises(SystemExit):
        engine_config(monkeypatch, "gb200-1p4d", prefill)
    assert "unrecognized arguments: --kv-dtype fp8" in capfd.readouterr().err


@pytest.mark.parametrize("name", NAMES)
def test_nixl_finds_both_stages_compatible(
    name: str, models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashes = {nixl_hash(engine_config(monkeypatch, name, each)) for each in workers(name, models, tmp_path)}
    assert len(hashes) == 1


@pytest.mark.parametrize("name", NAMES)
def test_dynamo_hands_requests_over_by_nixl(
    name: str, models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    protocols: Any = import_module("dynamo.vllm.kv_connector_protocols")
    for process in workers(name, models, tmp_path):
        protocol = protocols.make_kv_connector_protocol(engine_config(monkeypatch, name, process))
        assert isinstance(protocol, protocols.NixlConnectorProtocol)


@pytest.mark.parametrize("name", NAMES)
def test_every_connector_is_one_of_vllms(name: str, models: Path, tmp_path: Path) -> None:
    factory: Any = import_module("vllm.distributed.kv_transfer.kv_connector.factory").KVConnectorFactory
    made: Any = import_module("vllm.config.kv_transfer").KVTransferConfig
    for process in workers(name, models, tmp_path):
        given = json.loads(process.argv[process.argv.index("--kv-transfer-config") + 1])
        for child in (given, *given.get("kv_connector_extra_config", {}).get("connectors", [])):
            assert factory.get_connector_class(made(**child))


@pytest.mark.parametrize("name", [name for name in NAMES if name != "cpu-mla"])
def test_each_rank_publishes_on_a_port_of_its_process(name: str, models: Path, tmp_path: Path) -> None:
    publisher: Any = import_module("vllm.distributed.kv_events").ZmqEventPublisher
    prefill, _ = workers(name, models, tmp_path)
    endpoint = json.loads(prefill.argv[prefill.argv.index("--kv-events-config") + 1])["endpoint"]
    given = prefill.ports[ports.KV_EVENTS]
    assert [publisher.offset_endpoint_port(endpoint, rank) for rank in range(len(given))] == [
        f"tcp://*:{port}" for port in given
    ]


def test_vllm_reads_the_stores_file(models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prefill, _ = workers("gb200-1p4d", models, tmp_path)
    monkeypatch.setenv("MOONCAKE_CONFIG_PATH", prefill.env["MOONCAKE_CONFIG_PATH"])
    read: Any = import_module("vllm.distributed.mooncake_store").MooncakeStoreConfig.load_from_config()
    assert (read.master_server_address, read.protocol, read.mode) == ("192.0.2.1:50051", "rdma", "embedded")
    assert (read.global_segment_size, read.local_buffer_size) == (140 * 2**30, 4 * 2**30)


@pytest.mark.parametrize(
    ("name", "word", "ranks"),
    [
        ("gb200-1p4d", "", (0, 4)),
        ("gb200-1p4d", "--Prefill.data-parallel-start-rank=4", (4, 4)),
        ("h200-dp8", "", (0, 8)),
        ("cpu-mla", "", (0, 2)),
        ("cpu-dense", "", (0, 1)),
    ],
)
def test_dynamo_registers_the_ranks_of_the_process(
    name: str, word: str, ranks: tuple[int, int], *, models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    topology: Any = import_module("dynamo.vllm.dp_topology")
    prefill, _ = workers(name, models, tmp_path, *word.split())
    assert topology.get_dp_range_for_worker(engine_config(monkeypatch, name, prefill)) == ranks
