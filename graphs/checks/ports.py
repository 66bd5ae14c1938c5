"""The ports that a graph listens on are free."""

import errno
import socket
from collections.abc import Iterator
from contextlib import closing

from graphs.checks.check import Check
from graphs.config import ServiceConfig
from graphs.engines.ports import named

_OTHER_MACHINE = "give an address of this machine, or start it where that address is"


def ports(services: tuple[ServiceConfig, ...]) -> Iterator[Check]:
    """Every port that a setting names; ports from the kernel need no check."""
    for service in services:
        for host, setting, port in named(service):
            name = f"{service.service.name} port {port}"
            if service.args.workers > 1:
                yield Check(name, f"{service.args.workers} workers would share it", "set ServiceArgs.workers to 1")
            elif refusal := _refusal(host, port):
                reason, mend = refusal
                yield Check(
                    name, f"{host} {reason}", mend or f"choose another with --{service.service.name}.{setting}=PORT"
                )
            else:
                yield Check(name, f"free on {host}")


def _refusal(host: str, port: int) -> tuple[str, str] | None:
    """Why nothing can listen there, and what to do if it is not the port's fault."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except socket.gaierror:
        return "is no address of this machine", _OTHER_MACHINE
    with closing(socket.socket(family, kind, protocol)) as probe:
        # As the servers do it: a connection that lingers from the last run is no hindrance.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
            # Two sockets may be bound where neither listens.
            probe.listen()
        except OSError as error:
            mend = _OTHER_MACHINE if error.errno == errno.EADDRNOTAVAIL else ""
            return f"cannot listen there ({error.strerror})", mend
    return None
