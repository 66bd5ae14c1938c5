import socket
from collections.abc import Iterator

import pytest

from graphs.checks.planes import planes
from graphs.machine import free_ports
from tests.graphs.conftest import Resolve


@pytest.fixture
def server() -> Iterator[str]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield f"127.0.0.1:{listener.getsockname()[1]}"


def test_one_machine_needs_no_server(configure: Resolve) -> None:
    assert list(planes(configure())) == []


def test_servers_that_answer_pass(configure: Resolve, server: str) -> None:
    config = configure(
        "--Runtime.discovery-backend=etcd",
        f"--Runtime.etcd-endpoints=http://{server},http://{server}",
        "--Runtime.request-plane=nats",
        f"--Runtime.nats-server=nats://{server}",
    )
    assert [(check.name, check.ok) for check in planes(config)] == [("etcd", True), ("etcd", True), ("NATS", True)]


def test_a_server_that_does_not_answer_is_refused(configure: Resolve) -> None:
    (port,) = free_ports(1)
    url = f"http://127.0.0.1:{port}"
    (check,) = planes(configure("--Runtime.discovery-backend=etcd", f"--Runtime.etcd-endpoints={url}"))
    assert str(check).startswith(f"etcd: {url} does not answer (")
    assert check.mend == "start it, or name it with --etcd-endpoints"


def test_what_is_no_address_is_refused(configure: Resolve) -> None:
    (check,) = planes(configure("--Runtime.event-plane=nats", "--Runtime.nats-server=nats://here:port"))
    assert not check.ok


def test_the_environment_names_the_server_as_it_does_for_the_runtime(
    configure: Resolve, monkeypatch: pytest.MonkeyPatch, server: str
) -> None:
    monkeypatch.setenv("ETCD_ENDPOINTS", f"http://{server}")
    (check,) = planes(configure("--Runtime.discovery-backend=etcd"))
    assert (check.ok, check.found) == (True, f"http://{server} answers")
