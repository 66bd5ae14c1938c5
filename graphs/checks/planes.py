"""etcd and NATS answer where a graph of several machines uses them."""

import os
import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

from graphs.checks.check import Check
from graphs.config import Config

# What the runtime 1.6.1 takes when nothing is said.
_ETCD = "http://localhost:2379"
_NATS = "nats://localhost:4222"
_TIMEOUT_S = 2.0


def planes(config: Config) -> Iterator[Check]:
    """The servers between machines accept connections."""
    runtime = config.runtime
    if runtime.discovery_backend == "etcd":
        named = runtime.etcd_endpoints or os.environ.get("ETCD_ENDPOINTS") or _ETCD
        for url in named.split(","):
            yield _reachable("etcd", url.strip(), "start it, or name it with --etcd-endpoints")
    if runtime.uses_nats:
        url = runtime.nats_server or os.environ.get("NATS_SERVER") or _NATS
        yield _reachable("NATS", url, "start it, or name it with --nats-server")


def _reachable(name: str, url: str, mend: str) -> Check:
    parts = urlsplit(url if "//" in url else f"//{url}")
    try:
        port = parts.port or {"etcd": 2379, "NATS": 4222}[name]
        with socket.create_connection((parts.hostname or "", port), timeout=_TIMEOUT_S):
            return Check(name, f"{url} answers")
    except (OSError, ValueError) as error:
        return Check(name, f"{url} does not answer ({error})", mend)
