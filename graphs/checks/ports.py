"""The ports that a graph listens on are free."""

import socket
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from graphs.checks.check import Check
from graphs.config import ServiceConfig


def ports(services: tuple[ServiceConfig, ...]) -> Iterator[Check]:
    """Every port that a setting names; ports from the kernel need no check."""
    for service in services:
        for host, setting, port in _listens(service):
            name = f"{service.service.name} port {port}"
            mend = f"choose another with --{service.service.name}.{setting}=PORT"
            if service.args.workers > 1:
                yield Check(name, f"{service.args.workers} workers would share it", "set ServiceArgs.workers to 1")
            elif reason := _refusal(host, port):
                yield Check(name, f"{host} {reason}", mend)
            else:
                yield Check(name, f"free on {host}")


def _listens(service: ServiceConfig) -> Iterator[tuple[str, str, int]]:
    settings: Any = service.settings
    if service.worker.readiness == "chat":
        yield settings.http_host, "http-port", settings.http_port
    if service.worker.readiness == "port":
        yield settings.rpc_address, "rpc-port", settings.rpc_port


def _refusal(host: str, port: int) -> str:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except socket.gaierror:
        return "is no address of this machine"
    with closing(socket.socket(family, kind, protocol)) as probe:
        # As the servers do it: a connection that lingers from the last run is no hindrance.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
            # Two sockets may be bound where neither listens.
            probe.listen()
        except OSError as error:
            return f"cannot listen there ({error.strerror})"
    return ""
