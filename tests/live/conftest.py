import signal
import socket
from collections.abc import Callable, Iterator
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from tests.live.chat import Chat
from tests.live.serving import Graph

QUICK = "--Decode.inter-token-latency-ms=0.3"
"""Some 3,000 tokens a second: streams still come in pieces, and pieces still differ from run to run."""


@pytest.fixture(scope="session")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    """The graph that all tests share but those that stop it."""
    graph = Graph(tmp_path_factory.mktemp("graph"), QUICK)
    try:
        graph.wait_until_ready()
        yield graph
        code = graph.stop(signal.SIGTERM)
        assert (code, graph.errors()) == (0, ""), graph.tail()
        graph.assert_nothing_left()
    finally:
        graph.destroy()


@pytest.fixture
def start_graph(tmp_path: Path) -> Iterator[Callable[..., Graph]]:
    """Starts a graph for one test, and ends it with the test."""
    graphs: list[Graph] = []

    def start(*overrides: str) -> Graph:
        graphs.append(Graph(tmp_path / str(len(graphs)), *overrides))
        graphs[-1].wait_until_ready()
        return graphs[-1]

    yield start
    for graph in graphs:
        graph.destroy()


@pytest.fixture(autouse=True)
def _loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """No client may reach beyond this machine, as a framework's telemetry would."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6):
            assert ip_address(address[0]).is_loopback, f"a client reaches for {address}"
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


@pytest.fixture(scope="session")
def chat(graph: Graph) -> Iterator[Chat]:
    with Chat.at(graph.url, graph.model) as chat:
        yield chat
