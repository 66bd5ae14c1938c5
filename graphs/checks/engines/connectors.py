"""What moves KV between the stages: there, known to Dynamo by its name, and one only."""

from collections.abc import Iterator

from graphs.checks.check import Check
from graphs.checks.engines.engine import Engine
from graphs.engines.transfer import NIXL, children

# `KV_CONNECTOR_PROTOCOLS` of dynamo.vllm 1.6.1: each hands a request's parameters from prefill to decode, but the last.
PROTOCOLS = (NIXL, "NeuronNixlConnector", "MooncakeConnector", "LMCacheMPConnector")
_PRODUCERS = PROTOCOLS[:-1]
_ROLES = {"prefill": ("kv_producer", "kv_both"), "decode": ("kv_consumer", "kv_both")}


def connectors(found: list[Engine]) -> Iterator[Check]:
    """Every engine has one connector that Dynamo can drive, in the direction of its stage."""
    for engine in found:
        yield from _written_once(engine)
        yield from _named(engine)
        yield from _directed(engine)


def _written_once(engine: Engine) -> Iterator[Check]:
    settings = engine.settings
    if settings.connectors and settings.kv_transfer_config is not None:
        yield engine.refuse("kv-transfer-config", "connectors writes it", "give one of the two")
    if settings.kv_events and settings.kv_events_config is not None:
        yield engine.refuse("kv-events-config", "kv-events writes it", "give one of the two")
    if engine.variable("DYN_CONNECTOR"):
        yield Check(f"{engine.name} environment", "dynamo.vllm refuses DYN_CONNECTOR", "unset it, and give connectors")


def _named(engine: Engine) -> Iterator[Check]:
    key, names = engine.connectors_key, engine.connectors
    if engine.transfer is None:
        yield engine.refuse(key, "there is none, and no KV would reach decode", "set connectors: [nixl]")
        return
    for name in names:
        if name in {"NixlPullConnector", "NixlPushConnector"}:
            yield engine.refuse(key, f"Dynamo does not know {name}", f"name it {NIXL}, which pulls")
    producing = [name for name in names if name in _PRODUCERS] or [name for name in names if name in PROTOCOLS]
    if len(producing) > 1:
        shown = " and ".join(producing)
        yield engine.refuse(key, f"{shown} would both hand over a request, and vLLM allows one", "keep one of them")
    elif not producing and not any(name.startswith("Nixl") for name in names):
        shown = " and ".join(names) or str(engine.transfer.get("kv_connector"))
        yield engine.refuse(key, f"{shown} hands no request from prefill to decode", "add nixl")


def _directed(engine: Engine) -> Iterator[Check]:
    roles = _ROLES[engine.stage]
    # The outermost one has a role too, and is one of its own children where it is the only one.
    for child in (engine.transfer or {}, *children(engine.transfer)):
        name, role = child.get("kv_connector"), child.get("kv_role")
        if name and role is None:
            yield engine.refuse(engine.connectors_key, f"{name} has no kv_role", f"set {roles[0]}")
            return
        if name == NIXL and role not in roles:
            yield engine.refuse(engine.connectors_key, f"{role} is not the role of {engine.stage}", f"set {roles[0]}")
            return
