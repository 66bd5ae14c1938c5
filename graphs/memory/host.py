"""What an engine keeps in host memory, behind its GPUs."""

import re
from collections.abc import Iterator
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
        size_bytes: On all of the engine's machines together; of a store beside the engines all of it.
        tokens: Different tokens that it keeps.
        common: Whether it is such a store: the same for all engines, however many they are.
    """

    name: str
    size_bytes: int
    tokens: int
    common: bool = False


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
            found.append(_of_ranks("offload", connector.offload.gib, ladder, _offloaded_copies(ladder)))
        if connector.hisparse is not None:
            found.append(_of_ranks("HiSparse", connector.hisparse.host_pool_gib, ladder, 1))
        if connector.mooncake is not None:
            # Ranks that keep the same tokens store them once, under one key.
            found += [
                Tier("Mooncake", store, store // _whole_token_bytes(ladder), common)
                for store, common in _stores(config, ladder.topology.gpus)
            ]
    return tuple(found)


def _of_ranks(name: str, gib: float, ladder: Ladder, copies: int) -> Tier:
    ranks = ladder.topology.data
    size = round(gib * GIB)
    return Tier(name, size * ranks, size // (copies * _whole_token_bytes(ladder)) * ranks)


def _offloaded_copies(ladder: Ladder) -> int:
    """Tensor ranks store what all of them keep once; with PCP, DCP or PP each rank stores its own.

    From vLLM 0.31 `kv_connector/v1/offloading/config.py`, `replicated_layout`.
    """
    ranks = ladder.topology
    alone = ranks.prefill_context == ranks.decode_context == ranks.pipeline == 1
    return 1 if alone else ranks.kv_copies


def _whole_token_bytes(ladder: Ladder) -> int:
    return ladder.token_bytes * ladder.topology.pipeline


def _stores(config: Config, ranks: int) -> Iterator[tuple[int, bool]]:
    for service in config.services:
        match service.settings:
            case MooncakeSettings(mode="embedded") as store:
                yield ranks * size_bytes(store.segment_size), False
            case MooncakeClientSettings() as client:
                yield service.args.workers * size_bytes(client.global_segment_size), True
