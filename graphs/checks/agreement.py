"""What the services of one graph must agree on, or they would run and find nothing of each other's."""

from collections.abc import Iterator
from typing import Any

from graphs.checks.check import Check
from graphs.config import Config

_BLOCK_SIZES = ("block_size", "kv_cache_block_size")


def agreement(config: Config) -> Iterator[Check]:
    """One KV block size and one model name; a service that says nothing has its worker's default."""
    # Over several DCP ranks prefill counts its blocks in other tokens than it is told: engines have a rule for that.
    dcp = max(_value(service.settings, "decode_context_parallel_size") or 1 for service in config.services)
    sizes = {
        f"{service.service.name}.{name.replace('_', '-')}": value
        for service in config.services
        for name in (_BLOCK_SIZES if dcp == 1 else _BLOCK_SIZES[:1])
        if (value := _value(service.settings, name)) is not None
    }
    yield _one("KV block size", sizes)
    names = {
        f"{service.service.name}.{service.worker.name_flag}": service.model_name
        for service in config.services
        if service.model_name is not None
    }
    yield _one("model name", names)


def _one(name: str, given: dict[str, Any]) -> Check:
    if len(set(given.values())) > 1:
        shown = ", ".join(f"{where} is {value}" for where, value in given.items())
        return Check(name, shown, "give them one value, in Common")
    return Check(name, str(next(iter(given.values()), "the default everywhere")))


def _value(settings: Any, name: str) -> Any:
    return getattr(settings, name, None)
