"""The Mooncake store that connectors name: there, used, and reached from every machine."""

from collections.abc import Iterator

from graphs.checks.check import Check
from graphs.checks.engines.addresses import is_local
from graphs.checks.engines.engine import Engine
from graphs.config import Config
from graphs.engines.transfer import MOONCAKE
from graphs.settings.mooncake import MooncakeSettings
from graphs.settings.mooncake_client import MooncakeClientSettings


def stores(config: Config, found: list[Engine]) -> Iterator[Check]:
    """Who names a store has one, and a store has somebody who names it."""
    services = {
        each.service.name: each.settings for each in config.services if isinstance(each.settings, MooncakeSettings)
    }
    held = any(isinstance(each.settings, MooncakeClientSettings) for each in config.services)
    users = [engine for engine in found if MOONCAKE in engine.connectors]
    for engine in users:
        if not services and not engine.variable("MOONCAKE_CONFIG_PATH"):
            yield engine.refuse(engine.connectors_key, f"{MOONCAKE} has no store", "add a Mooncake service to the file")
    for name, settings in services.items():
        if users and settings.mode == "standalone-store" and not (held or config.runtime.spans_machines):
            yield Check(f"{name}.mode", "standalone-store, and nobody gives it memory", "add a MooncakeClient service")
        if users and config.runtime.spans_machines:
            yield from _reached(name, settings)
        elif found and not users:
            yield Check(f"{name} service", "no engine uses it", "add mooncake to Prefill.connectors, or leave it out")


def _reached(name: str, settings: MooncakeSettings) -> Iterator[Check]:
    hosts = {"rpc-address": settings.rpc_address}
    if settings.enable_http_metadata_server:
        hosts["http-metadata-server-host"] = settings.http_metadata_server_host
    for key, host in hosts.items():
        if is_local(host):
            mend = f"give its machine's address with --{name}.{key}=ADDRESS"
            yield Check(f"{name}.{key}", f"{host} is not reached from other machines", mend)
