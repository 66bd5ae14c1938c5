import socket

from graphs.checks.ports import ports
from graphs.machine import free_ports
from tests.graphs.conftest import Resolve


def test_a_free_port_passes(configure: Resolve) -> None:
    (port,) = free_ports(1)
    (check,) = ports(configure(f"--Frontend.http-port={port}").services)
    assert str(check) == f"Frontend port {port}: free on 127.0.0.1"


def test_a_taken_port_is_refused_with_the_flag_that_changes_it(configure: Resolve) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        (check,) = ports(configure(f"--Frontend.http-port={port}").services)
    assert str(check) == (
        f"Frontend port {port}: 127.0.0.1 cannot listen there (Address already in use): "
        "choose another with --Frontend.http-port=PORT"
    )


def test_an_address_of_another_machine_is_refused(configure: Resolve) -> None:
    (check,) = ports(configure("--Frontend.http-host=192.0.2.77").services)
    assert "Cannot assign requested address" in check.found
    assert check.mend == "give an address of this machine, or start it where that address is"


def test_two_frontends_cannot_share_a_port(configure: Resolve) -> None:
    (check,) = ports(configure("--Frontend.ServiceArgs.workers=2").services)
    assert str(check) == "Frontend port 8000: 2 workers would share it: set ServiceArgs.workers to 1"


def test_a_stores_ports_are_looked_at_too(configure: Resolve) -> None:
    rpc, metrics, metadata = free_ports(3)
    words = (
        f"--Mooncake.rpc-port={rpc}",
        f"--Mooncake.metrics-port={metrics}",
        f"--Mooncake.http-metadata-server-port={metadata}",
    )
    with socket.socket() as taken:
        taken.bind(("127.0.0.2", metadata))
        taken.listen()
        _, *checks = ports(configure(*words).services)
    assert [check.name for check in checks] == [f"Mooncake port {port}" for port in (rpc, metrics, metadata)]
    # The metadata server listens on every address, so a port that is taken on any of them is.
    assert [check.ok for check in checks] == [True, True, False]
