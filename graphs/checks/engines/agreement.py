"""What prefill and decode must have in common, or the KV that one writes is not what the other reads.

NIXL's handshake compares a hash of vLLM's version, the model as it is spelled, its dtype, the attention backend, the KV
dtype and the draft method (`nixl/metadata.py`), and refuses request by request. The layout is not compared for MLA.
"""

from collections.abc import Iterator
from typing import Any

from graphs.checks.check import Check
from graphs.checks.engines.connectors import PROTOCOLS
from graphs.checks.engines.engine import Engine, pair

# A setting, and why it must be one.
_REASONS = {
    "model": "NIXL compares the names letter by letter",
    "dtype": "NIXL refuses a model that computes in another type",
    "kv-cache-dtype": "NIXL moves rows as they are",
    "kv-cache-layout": "NIXL moves blocks as they are, and does not compare their layout",
    "block-size": "NIXL moves whole blocks",
    "disable-hybrid-kv-cache-manager": "it decides what a block is",
}


def agreement(found: list[Engine]) -> Iterator[Check]:
    """One value for both stages of everything that a KV row depends on."""
    both = pair(found)
    if both is None:
        return
    prefill, decode = both
    for key, reason in _REASONS.items():
        values = [getattr(engine.settings, key.replace("-", "_")) for engine in both]
        # Two block sizes that somebody gave are compared for the whole graph, the frontend's included.
        if values[0] != values[1] and not (key == "block-size" and all(values)):
            yield _differ(prefill, decode, key, values, reason)
    backends = [engine.backend for engine in both]
    if backends[0] != backends[1]:
        yield _differ(prefill, decode, "attention-backend", backends, "it decides how a row is written")
    drafts = [engine.drafts for engine in both]
    if drafts[0] != drafts[1]:
        yield _differ(prefill, decode, "speculative-config", drafts, "the draft layer's KV is moved too")
    ways = [" and ".join(sorted(set(engine.connectors) & set(PROTOCOLS))) for engine in both]
    if all(ways) and ways[0] != ways[1]:
        differ = f"decode takes KV from {ways[1]} and prefill gives it to {ways[0]}"
        yield decode.refuse(decode.connectors_key, differ, "name one on both sides")


def _differ(prefill: Engine, decode: Engine, key: str, values: list[Any], reason: str) -> Check:
    first, second = ("the default" if value is None else value for value in values)
    found = f"{second}, and {prefill.place(key)} is {first}; {reason}"
    return decode.refuse(key, found, "give both one value, in Common")
