"""The ladders as JSON."""

from collections.abc import Sequence
from typing import Any

import msgspec

from components.kvcache.rows import token_bytes
from graphs.commands.plan.engines import Planned
from graphs.memory.ladder import Engine, kv_model
from graphs.memory.transfer import transfer


def document(engines: Sequence[Planned], session_tokens: int) -> dict[str, Any]:
    """Return all that is shown, by names with their units."""
    return {"session_tokens": session_tokens, "engines": [_engine(each, session_tokens) for each in engines]}


def _engine(planned: Planned, session_tokens: int) -> dict[str, Any]:
    ladder, engine = planned.ladder, planned.engine
    return {
        "service": ladder.engine,
        "model": engine.shapes.name,
        "weights": engine.weights,
        "checkpoint": _checkpoint(engine),
        "topology": ladder.topology.name,
        "gpus": ladder.topology.gpus,
        "gpu": ladder.device.name,
        "hbm_bytes": ladder.device.hbm_bytes,
        "rungs": [
            {"name": rung.name, "bytes": rung.size_bytes, "kind": rung.kind, "why": rung.why} for rung in ladder.rungs
        ],
        "kv_bytes": ladder.kv_bytes,
        "kv_cache_dtype": ladder.row.cache_dtype,
        "kv_copies": ladder.topology.kv_copies,
        "token_bytes": ladder.token_bytes,
        "token_parts": msgspec.to_builtins(token_bytes(kv_model(engine), ladder.row)),
        "tokens_per_gpu": ladder.gpu_tokens,
        "tokens_per_engine": ladder.engine_tokens,
        "sessions_per_engine": ladder.sessions(session_tokens),
        "transfer": msgspec.to_builtins(transfer(engine, ladder, session_tokens)),
        "host": [
            {
                "name": tier.name,
                "bytes": tier.size_bytes,
                "tokens": tier.tokens,
                "sessions": tier.tokens // session_tokens,
            }
            for tier in planned.tiers
        ],
        "max_model_len": ladder.max_model_len,
        "missing_bytes": ladder.missing_bytes,
        "mends": [
            {
                "change": mend.change,
                "missing_bytes": mend.ladder.missing_bytes,
                "tokens_per_gpu": mend.ladder.gpu_tokens,
            }
            for mend in planned.mends
        ],
    }


def _checkpoint(engine: Engine) -> dict[str, Any] | None:
    if (found := engine.checkpoint) is None:
        return None
    return {
        "files": found.files,
        "bytes": found.all_bytes,
        "loaded_bytes": sum(part.all_bytes for part in engine.parts),
        "unknown": list(found.unknown),
    }
