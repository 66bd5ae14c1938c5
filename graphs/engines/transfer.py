"""`connectors` written out as vLLM's `--kv-transfer-config`.

Names and keys are those of vLLM 0.31.0's `KVTransferConfig` and of the connectors' `kv_connector_extra_config`.
"""

from collections.abc import Iterator
from typing import Any, Literal

from graphs.model import Role
from graphs.settings.connectors import Connector, HiSparse, Nixl, Offload
from graphs.settings.vllm import VllmSettings

NIXL = "NixlConnector"
MOONCAKE = "MooncakeStoreConnector"
HISPARSE = "HiSparseConnector"
OFFLOAD = "OffloadingConnector"
MULTI = "MultiConnector"

_CLASSES = {"nixl": NIXL, "mooncake": MOONCAKE, "hisparse": HISPARSE, "offload": OFFLOAD}
_GIB = 2**30

KvRole = Literal["kv_producer", "kv_consumer"]


def transfer_config(settings: VllmSettings, role: Role, *, on_gpu: bool) -> dict[str, Any] | None:
    """The KVTransferConfig of an engine: the one written by hand, else that of its connectors, else None.

    Dynamo hands a request's parameters to the one connector that it knows by name, so NIXL goes by `NixlConnector` also
    inside of a `MultiConnector`.
    """
    if settings.kv_transfer_config is not None or not settings.connectors:
        return settings.kv_transfer_config
    kv_role: KvRole = "kv_producer" if role == "prefill" else "kv_consumer"
    entries = [_entry(connector, kv_role, on_gpu=on_gpu) for connector in settings.connectors]
    if len(entries) == 1:
        (config,) = entries
    else:
        extra = {"connectors": entries}
        config = {"kv_connector": MULTI, "kv_role": kv_role, "kv_connector_extra_config": extra}
    # vLLM's scheduler reads the policy of the outermost connector.
    return config | ({"kv_load_failure_policy": policy} if (policy := settings.kv_load_failure_policy) else {})


def children(config: dict[str, Any] | None) -> Iterator[dict[str, Any]]:
    """The connectors that move KV: those inside of a `MultiConnector` or Dynamo's `PdConnector`, or the only one."""
    if config is None:
        return
    if config.get("kv_connector") not in {MULTI, "PdConnector"}:
        yield config
        return
    extra = config.get("kv_connector_extra_config")
    listed = extra.get("connectors") if isinstance(extra, dict) else None
    yield from (child for child in listed or () if isinstance(child, dict))


def names(config: dict[str, Any] | None) -> list[str]:
    """The class names of `children`."""
    return [str(child.get("kv_connector")) for child in children(config)]


def _entry(connector: Connector, kv_role: KvRole, *, on_gpu: bool) -> dict[str, Any]:
    entry: dict[str, Any] = {"kv_connector": _CLASSES[connector.name], "kv_role": "kv_both"}
    match connector.options:
        case Nixl() as nixl:
            # NIXL has one direction; `kv_both` is deprecated for it.
            entry["kv_role"] = kv_role
            if device := nixl.kv_buffer_device or (None if on_gpu else "cpu"):
                entry["kv_buffer_device"] = device
            extra = _extra(nixl, "kv_buffer_device")
        case HiSparse() as hisparse:
            extra = _extra(hisparse, "host_pool_gib") | {"host_pool_gib": hisparse.host_pool_gib}
        case Offload() as offload:
            extra = _extra(offload, "gib") | {"cpu_bytes_to_use": int(offload.gib * _GIB)}
        case options:
            extra = _extra(options)
    return entry | ({"kv_connector_extra_config": extra} if extra else {})


def _extra(options: Any, *apart: str) -> dict[str, Any]:
    given = options.model_dump(exclude_none=True, exclude=set(apart))
    return {name.replace("-", "_"): value for name, value in given.items()}
