"""Mooncake as a service of the graph: its real master under `dynamo serve`, a real client with the file for workers."""

import http.client
import json
import signal
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from graphs.engines.store import client_file
from graphs.machine import free_ports
from tests.engines.commands import configuration
from tests.engines.libraries import needs_mooncake
from tests.live.serving import Graph, until

MIB = 2**20
pytestmark = [pytest.mark.timeout(300), needs_mooncake]


def settings() -> tuple[str, ...]:
    rpc, metadata, metrics, client = free_ports(4)
    return (
        f"--Mooncake.rpc-port={rpc}",
        f"--Mooncake.http-metadata-server-port={metadata}",
        f"--Mooncake.metrics-port={metrics}",
        "--Mooncake.mode=standalone-store",
        "--Mooncake.local-buffer-size=16mb",
        f"--MooncakeClient.port={client}",
        "--MooncakeClient.global-segment-size=64MB",
    )


@pytest.fixture(scope="module")
def words() -> tuple[str, ...]:
    return settings()


@pytest.fixture(scope="module")
def graph(words: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    graph = Graph(tmp_path_factory.mktemp("graph"), *words)
    try:
        graph.wait_until_ready()
        yield graph
        assert graph.stop(signal.SIGTERM) == 0, graph.tail()
        graph.assert_nothing_left()
    finally:
        graph.destroy()


def get(port: int, path: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def client(file: dict[str, Any]) -> Any:
    """A client that joins the store as vLLM's connector does."""
    store = import_module("mooncake.store").MooncakeDistributedStore()
    # `test_arguments.py` shows that vLLM reads the same sizes.
    size = {name: int(file[name].removesuffix("mb")) * MIB for name in ("global_segment_size", "local_buffer_size")}
    address = f"127.0.0.1:{free_ports(1)[0]}"
    joined = store.setup(
        address,
        file["metadata_server"],
        size["global_segment_size"],
        size["local_buffer_size"],
        file["protocol"],
        file["device_name"],
        file["master_server_address"],
    )
    assert joined == 0
    return store


def test_master_memory_and_prefill_start_in_this_order_and_the_others_at_once(graph: Graph) -> None:
    events = [(line["event"], line["service"]) for line in graph.lines if "event" in line]
    order = [
        ("started", "Decode"),
        ("process-ready", "Mooncake"),
        ("started", "MooncakeClient"),
        ("process-ready", "MooncakeClient"),
        ("started", "Prefill"),
    ]
    assert [events.index(event) for event in order] == sorted(events.index(event) for event in order)


def test_its_metrics_and_its_health_answer_on_the_port_of_the_settings(graph: Graph, words: tuple[str, ...]) -> None:
    del graph
    port = int(words[2].partition("=")[2])
    assert "master_key_count 0" in get(port, "/metrics")[1]
    status, health = get(port, "/health")
    assert (status, json.loads(health)["service_ready"]) == (200, True)


def test_a_block_that_one_client_put_is_there_for_the_next_after_its_end(graph: Graph, words: tuple[str, ...]) -> None:
    del graph
    ((_, text),) = client_file(configuration("local", *words), Path("/run/graph")).items()
    block = bytes(range(256)) * 4096
    first = client(json.loads(text))
    assert first.put("block", block) == 0
    first.close()
    second = client(json.loads(text))
    assert second.get("block") == block
    second.close()
    assert "master_key_count 1" in get(int(words[2].partition("=")[2]), "/metrics")[1]


def test_a_master_that_dies_is_started_again(tmp_path: Path) -> None:
    graph = Graph(tmp_path / "graph", *settings())

    def ready() -> int:
        return sum(line.get("event") == "process-ready" and line["service"] == "Mooncake" for line in graph.lines)

    try:
        graph.wait_until_ready()
        (master,) = graph.processes("Mooncake")
        master.kill()
        until(lambda: ready() > 1, "the master ready again")
        assert graph.stop(signal.SIGTERM) == 0, graph.tail()
    finally:
        graph.destroy()
