"""What a process must know of the graph's Mooncake store, to be a client of it.

Workers read it in the JSON file that `MOONCAKE_CONFIG_PATH` names, whose keys are those of vLLM 0.31.0's
`distributed/mooncake_store.py`; `mooncake_client` is told by flags.
"""

import json
from pathlib import Path

from graphs.config import Config
from graphs.settings.mooncake import MooncakeSettings
from graphs.settings.mooncake_client import MooncakeClientSettings

_FILE = "mooncake.json"
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - compared with, not bound.


def client_file(config: Config, run_dir: Path) -> dict[Path, str]:
    """The file's path in the run's folder and its text; empty when the graph has no store."""
    master = _master(config)
    return {run_dir / _FILE: json.dumps(_client(master), indent=2) + "\n"} if master else {}


def joined(config: Config, client: MooncakeClientSettings) -> MooncakeClientSettings:
    """The settings of a `mooncake_client` with the places and the protocol of the graph's master where it has none."""
    master = _master(config)
    if master is None:
        return client
    told = {name: value for name, value in _places(master).items() if getattr(client, name) is None}
    return client.model_copy(update=told)


def _master(config: Config) -> MooncakeSettings | None:
    found = (each.settings for each in config.services if isinstance(each.settings, MooncakeSettings))
    return next(found, None)


def _places(master: MooncakeSettings) -> dict[str, str]:
    metadata = f"http://{_at(master.http_metadata_server_host)}:{master.http_metadata_server_port}/metadata"
    return {
        "master_server_address": f"{_at(master.rpc_address)}:{master.rpc_port}",
        # The metadata server is a thread of the master. Without it, clients exchange their addresses among themselves.
        "metadata_server": metadata if master.enable_http_metadata_server else "P2PHANDSHAKE",
        "protocol": master.protocol,
    }


def _client(master: MooncakeSettings) -> dict[str, object]:
    return {
        **_places(master),
        "device_name": master.device_name,
        "mode": master.mode,
        "global_segment_size": master.segment_size,
        "local_buffer_size": master.local_buffer_size,
    }


def _at(address: str) -> str:
    address = _EVERYWHERE.get(address, address)
    return f"[{address}]" if ":" in address else address
