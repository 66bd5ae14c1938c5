"""The ladders for a terminal: a bar for each rung, each beginning where the one above ends."""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from components.kvcache.rows import token_bytes
from graphs.commands.plan.engines import Planned
from graphs.memory.devices import GIB
from graphs.memory.ladder import Engine, Ladder, Rung, kv_model
from graphs.memory.transfer import transfer

_WIDTH: Final = 48
_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"
_COLOURS: Final = {
    "reserve": "90",
    "weights": "34",
    "assumed": "33",
    "logged": "35",
    "kv": "32",
    "all": "37",
}


def text(engines: Sequence[Planned], session_tokens: int, *, colour: bool) -> Iterator[str]:
    """Yield the lines of all ladders.

    Args:
        engines: The engines.
        session_tokens: Length of a session.
        colour: Whether the terminal shows colours.
    """
    for number, planned in enumerate(engines):
        if number:
            yield "\n"
        yield from _engine(planned, session_tokens, colour=colour)


def _engine(planned: Planned, session_tokens: int, *, colour: bool) -> Iterator[str]:
    ladder, engine = planned.ladder, planned.engine
    yield (
        f"{ladder.engine}: {engine.shapes.name} in {engine.weights}, {ladder.topology.name} on "
        f"{ladder.topology.gpus} x {ladder.device.name}; one GPU:\n"
    )
    total = ladder.device.hbm_bytes
    yield _line("memory", _bar(0, total, total), total, "all", colour=colour)
    begin = 0
    for rung in ladder.rungs:
        end = begin + rung.size_bytes
        yield _line(_named(rung), _bar(begin, end, total), rung.size_bytes, rung.kind, colour=colour)
        begin = end
    if ladder.kv_bytes > 0:
        yield _line("left for KV", _bar(begin, total, total), ladder.kv_bytes, "kv", colour=colour)
    yield from (f"  {line}\n" for line in (*_exact(engine), *_left(planned, session_tokens)))
    yield from (f"  {line}\n" for line in misfit(planned))


def _line(name: str, bar: str, size: int, kind: str, *, colour: bool) -> str:
    shown = f"\x1b[{_COLOURS[kind]}m{bar}\x1b[0m" if colour else bar
    return f"  {size / GIB:6.1f} GiB  {shown}  {name}\n"


def _bar(begin: int, end: int, total: int) -> str:
    """A bar of a fixed width from one place to another; what is there at all is seen, what reaches beyond is cut."""
    first, last = (round(min(place, total) / total * _WIDTH * 8) for place in (begin, end))
    first_cell = min(first // 8, _WIDTH - 1)
    # A bar begins at a whole cell: there are no characters that are filled from the right.
    cells, rest = divmod(max(last - first_cell * 8, 1), 8)
    return f"{' ' * first_cell}{'█' * cells}{_EIGHTHS[rest] if rest else ''}".ljust(_WIDTH)[:_WIDTH]


def _named(rung: Rung) -> str:
    return f"{rung.name}{' (assumed)' if rung.kind == 'assumed' else ''}: {rung.why}"


def _exact(engine: Engine) -> Iterator[str]:
    if (found := engine.checkpoint) is None:
        return
    kept = sum(part.all_bytes for part in engine.parts)
    yield (
        f"weights: exact, by the headers of {found.files} files; {kept / 1e9:,.1f} of {found.all_bytes / 1e9:,.1f} GB "
        "are loaded" + ("" if kept == found.all_bytes else ", the rest is MTP's, unused or a copy")
    )
    if found.unknown:
        yield f"tensors of unknown names: {len(found.unknown)}, such as {found.unknown[0]}; counted whole on each GPU"


def _left(planned: Planned, session_tokens: int) -> Iterator[str]:
    ladder = planned.ladder
    ranks = ladder.topology
    if ladder.gpu_tokens:
        yield (
            f"{ladder.token_bytes:,} B a token ({ladder.row.cache_dtype}): {ladder.gpu_tokens:,} tokens a GPU, "
            f"{_copies(ladder)}: {ladder.engine_tokens:,} in the engine"
        )
        yield f"of a token, all layers: {', '.join(_parts(planned))}"
        yield (
            f"resident sessions of {session_tokens:,} tokens: {ladder.sessions(session_tokens)} an engine"
            + (
                f", {planned.engines * ladder.sessions(session_tokens)} on {planned.engines}"
                if planned.engines > 1
                else ""
            )
        )
    if (moved := transfer(planned.engine, ladder, session_tokens)) is not None:
        pulled = f"{moved.rank_bytes / 1e9:.1f} GB" + (f", to each of {moved.ranks} ranks" if moved.ranks > 1 else "")
        yield (
            f"a request of {session_tokens:,} tokens brings {pulled}: {moved.pieces:,} pieces as NixlConnector of "
            f"vLLM 0.31 cuts them, {moved.rank_ms:,.0f} ms; {moved.whole_pieces:,} in whole blocks, "
            f"{moved.whole_rank_ms:,.0f} ms"
        )
    for tier in planned.tiers:
        sessions = tier.tokens // session_tokens
        yield f"host, {tier.name}: {tier.size_bytes / GIB:,.0f} GiB, {tier.tokens:,} tokens, {sessions:,} sessions"
    if ranks.pipeline > 1:
        yield "pipeline stages are counted alike; the first and the last have embeddings and head"


def _parts(planned: Planned) -> Iterator[str]:
    for name, size in msgspec.structs.asdict(token_bytes(kv_model(planned.engine), planned.ladder.row)).items():
        if size:
            yield f"{name.removesuffix('_bytes')} {size:,} B"


def _copies(ladder: Ladder) -> str:
    ranks = ladder.topology
    if ranks.kv_copies > 1:
        return f"the same on {ranks.kv_copies}"
    return "each its own" if ranks.gpus > 1 else "all of them"


def misfit(planned: Planned) -> Iterator[str]:
    """Yield by how much an engine does not fit and what would help; nothing where it fits."""
    ladder = planned.ladder
    if not ladder.missing_bytes:
        return
    yield (
        f"DOES NOT FIT: {ladder.missing_bytes / GIB:,.1f} GiB a GPU are missing for one session of "
        f"{ladder.max_model_len:,} tokens (max-model-len)"
    )
    for mend in planned.mends:
        left = mend.ladder.missing_bytes
        then = f"{left / GIB:,.1f} GiB still missing" if left else f"fits, {mend.ladder.gpu_tokens:,} tokens a GPU"
        yield f"  {mend.change}: {then}"
