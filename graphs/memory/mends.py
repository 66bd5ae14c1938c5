"""Changes that would leave more of a GPU for KV, for an engine that does not fit."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from types import MappingProxyType
from typing import Final

import msgspec

from components.kvcache.rows import NVFP4_DS_MLA
from graphs.memory.ladder import Engine, Ladder, has_mtp, ladder
from graphs.memory.topology import impossible, topology

_MOST_UTILIZATION: Final = 0.95
_MOST: Final = 3
_OURS: Final = "CUSTOM"
_NVFP4_BACKENDS: Final[Mapping[int, str]] = MappingProxyType({9: _OURS, 10: "FLASHMLA_SPARSE"})
"""What reads NVFP4 rows, by the GPU's generation (`graphs/checks/engines/rows.py`): on Hopper a backend of our own."""
SMALLER: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType({"bf16": ("fp8", "nvfp4"), "fp8": ("nvfp4",)})
"""Formats of weights that are smaller than another."""


class Mend(msgspec.Struct, frozen=True):
    """One way to make an engine fit.

    Attributes:
        change: What to write, or to rent: one change, or several together.
        ladder: The ladder then.
    """

    change: str
    ladder: Ladder


Change = tuple[str, Callable[[Engine], Engine]]


def mends(engine: Engine) -> list[Mend]:
    """Return up to three ways to make the engine fit, of as few changes as do it; the nearest misses where none does.

    Args:
        engine: One that does not fit.
    """
    changes = [each for each in _changes(engine) if _may_be(each[1](engine))]
    for together in range(1, _MOST + 1):
        tried = [_mend(engine, some) for some in combinations(changes, together)]
        if fits := [mend for mend in tried if not mend.ladder.missing_bytes]:
            return fits[:_MOST]
    return sorted(tried, key=lambda mend: mend.ladder.missing_bytes)[:_MOST]


def _may_be(engine: Engine) -> bool:
    return impossible(topology(engine.settings), engine.shapes) is None


def _mend(engine: Engine, changes: Sequence[Change]) -> Mend:
    for _, change in changes:
        engine = change(engine)
    return Mend(" and ".join(name for name, _ in changes), ladder(engine))


def _flags(**flags: object) -> Callable[[Engine], Engine]:
    return lambda engine: msgspec.structs.replace(engine, settings=engine.settings.model_copy(update=flags))


def _weights(name: str) -> Callable[[Engine], Engine]:
    return lambda engine: msgspec.structs.replace(engine, weights=name, checkpoint=None)


def _changes(engine: Engine) -> Iterator[Change]:
    settings, now = engine.settings, ladder(engine)
    # In the order of what they cost: first what changes no answer and takes no GPU.
    if (settings.gpu_memory_utilization or 0) < _MOST_UTILIZATION:
        yield f"gpu-memory-utilization {_MOST_UTILIZATION}", _flags(gpu_memory_utilization=_MOST_UTILIZATION)
    if now.gpu_tokens:
        length = now.gpu_tokens * now.topology.decode_context
        yield f"max-model-len {length}", _flags(max_model_len=length)
    yield from _smaller_rows(engine, now)
    if has_mtp(settings):
        yield "no speculative-config", _flags(speculative_config=None)
    for weights in SMALLER.get(engine.weights, ()):
        yield f"{weights} weights", _weights(weights)
    if now.topology.data > 1:
        yield f"data-parallel-size {2 * now.topology.data}", _flags(data_parallel_size=2 * now.topology.data)
    else:
        yield f"tensor-parallel-size {2 * now.topology.tensor}", _flags(tensor_parallel_size=2 * now.topology.tensor)


def _smaller_rows(engine: Engine, now: Ladder) -> Iterator[Change]:
    settings, backend = engine.settings, _NVFP4_BACKENDS.get(int(engine.device.capability))
    contexts = now.topology.prefill_context > 1 or now.topology.decode_context > 1
    # Both gather rows of `fp8_ds_mla` only.
    gathered = contexts or any(each.hisparse is not None for each in settings.connectors or ())
    if backend is None or gathered or now.row.row_bytes <= NVFP4_DS_MLA.row_bytes:
        return
    row, named = NVFP4_DS_MLA.cache_dtype, settings.attention_backend
    # vLLM finds its own by itself.
    if named == backend or (named is None and backend != _OURS):
        yield f"kv-cache-dtype {row}", _flags(kv_cache_dtype=row)
    else:
        yield (
            f"kv-cache-dtype {row} with attention-backend {backend}",
            _flags(kv_cache_dtype=row, attention_backend=backend),
        )
