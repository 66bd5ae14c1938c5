"""Where other machines ask an engine for KV."""

from collections.abc import Iterator
from ipaddress import ip_address

from graphs.checks.check import Check
from graphs.checks.engines.engine import Engine
from graphs.config import Config
from graphs.engines.transfer import MULTI, NIXL

_SIDE_CHANNEL = "VLLM_NIXL_SIDE_CHANNEL_HOST"


def addresses(config: Config, found: list[Engine]) -> Iterator[Check]:
    """Every engine's KV can be reached from the machines of the other stage."""
    for engine in found:
        if NIXL in engine.connectors and config.runtime.spans_machines:
            yield from _side_channel(engine)


def _side_channel(engine: Engine) -> Iterator[Check]:
    host = engine.settings.side_channel_host or engine.variable(_SIDE_CHANNEL)
    mend = f"give this machine's address with --{engine.name}.side-channel-host=ADDRESS"
    if host and is_local(host):
        yield engine.refuse("side-channel-host", f"{host} is not reached from other machines", mend)
    # Dynamo finds an address by itself where NIXL stands alone, and does not look into a MultiConnector.
    if not host and engine.transfer and engine.transfer.get("kv_connector") == MULTI:
        found = f"not set; with {MULTI} the other stage would look for KV on its own machine"
        yield engine.refuse("side-channel-host", found, mend)


def is_local(host: str) -> bool:
    """Whether an address, or `localhost`, means another machine on every machine."""
    try:
        address = ip_address(host)
    except ValueError:
        return host == "localhost"
    return address.is_loopback or address.is_unspecified
