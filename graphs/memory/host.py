"""What an engine keeps in host memory, behind its GPUs."""

import re
from typing import Final

import msgspec

from graphs.config import Config
from graphs.memory.devices import GIB
from graphs.memory.ladder import Ladder
from graphs.settings.mooncake import MooncakeSettings
from graphs.settings.mooncake_client import MooncakeClientSettings
from graphs.settings.vllm import VllmSettings

_UNITS: Final = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


class Tier(msgspec.Struct, frozen=True):
    """Host memory behind one engine.

    Attributes:
        name: Who manages it.
        size_bytes: On all of the engine's machines together.
        tokens: Different tokens that it keeps.
    """

    name: str
    size_bytes: int
    tokens: int


def size_bytes(text: str) -> int:
    """Read a size as Mooncake writes it: `140gb`, `512 MB`, `4096`; its units are powers of 1,024.

    Raises:
        ValueError: It is none.
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)b?\s*", text.lower())
    if found is None:
        raise ValueError(f"{text!r} is not a size such as 140gb")
    return round(float(found[1]) * _UNITS[found[2]])


def tiers(config: Config, settings: VllmSettings, ladder: Ladder) -> tuple[Tier, ...]:
    """Return the host tiers of an engine: what it offloads to by itself, and the graph's store where it uses that."""
    found = []
    for connector in settings.connectors or ():
        if connector.offload is not None:
            found.append(_of_ranks("offload", connector.offload.gib, ladder))
        if connector.hisparse is not None:
            found.append(_of_ranks("HiSparse", connector.hisparse.host_pool_gib, ladder))
        if connector.mooncake is not None and (store := _store_bytes(config, ladder.topology.gpus)):
            # Ranks that keep the same tokens store them once, under one key.
            found.append(Tier("Mooncake", store, store // _whole_token_bytes(ladder)))
    return tuple(found)


def _of_ranks(name: str, gib: float, ladder: Ladder) -> Tier:
    ranks = ladder.topology.data
    size = round(gib * GIB)
    return Tier(name, size * ranks, size // _whole_token_bytes(ladder) * ranks)


def _whole_token_bytes(ladder: Ladder) -> int:
    return ladder.token_bytes * ladder.topology.pipeline


def _store_bytes(config: Config, ranks: int) -> int:
    found = 0
    for service in config.services:
        match service.settings:
            case MooncakeSettings(mode="embedded") as store:
                found += ranks * size_bytes(store.segment_size)
            case MooncakeClientSettings() as client:
                found += service.args.workers * size_bytes(client.global_segment_size)
    return found
