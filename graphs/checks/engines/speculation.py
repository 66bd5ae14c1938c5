"""Speculative decoding: said once, and not beside what excludes it."""

from collections.abc import Iterator

from graphs.checks.check import Check
from graphs.checks.engines.engine import Engine

# A flag, and the key of `--speculative-config` that says the same; vLLM takes one of the two.
_TWICE = {"spec-method": "method", "spec-model": "model", "spec-tokens": "num_speculative_tokens"}


def speculation(found: list[Engine]) -> Iterator[Check]:
    """Nothing is said twice, and MTP says how many tokens it drafts."""
    for engine in found:
        config = engine.settings.speculative_config or {}
        for flag, key in _TWICE.items():
            if engine.untyped(flag) is not None and key in config:
                yield engine.refuse(flag, f"speculative-config has {key}", "give one of the two")
        if engine.drafts == "mtp" and not (config.get("num_speculative_tokens") or engine.untyped("spec-tokens")):
            yield engine.refuse("speculative-config", "it drafts no token", "set num_speculative_tokens, such as 3")
        if engine.drafts and engine.untyped("enable-dbo"):
            yield engine.refuse("enable-dbo", "dual batch overlap does not go with drafting", "leave it out")
