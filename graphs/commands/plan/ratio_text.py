"""The ratio for a terminal and for programs."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from graphs.commands.plan.ratio import Result
from graphs.ratio.grid import Point, Served, frontier
from graphs.ratio.measured import as_given
from graphs.ratio.prices import measured_on

_COLUMNS = (
    "P:D",
    "GPUs",
    "sessions",
    "in flight",
    "decoding",
    "tok/s/user",
    "tok/s/GPU",
    "wait p50, ms",
    "TTFT p50, s",
    "p90",
    "ITL, ms",
    "reuse",
)


def text(result: Result) -> Iterator[str]:
    """Yield the lines: the workload, the prices, the balance by arithmetic, and what was replayed."""
    yield from (f"{line}\n" for line in (*_workload(result), "", *_balance(result), "", *_served(result), ""))
    best = frontier(result.points)
    yield from (f"{line}\n" for line in _table([list(_COLUMNS), *(_row(each, each in best) for each in result.points)]))
    yield "* no other point is better for both a user and a GPU\n"


def document(result: Result) -> dict[str, Any]:
    """Return all figures, by names with their units."""
    best = frontier(result.points)
    balance = msgspec.structs.asdict(result.balance)
    return {
        "workload": {
            "name": result.name,
            "think_cap_s": result.ask.numbers.think_cap_s,
            "seed": result.ask.numbers.seed,
            **msgspec.structs.asdict(result.demand),
            "reuse_ratio": result.demand.reuse_ratio,
        },
        "measured": dict(as_given(result.ask.measured)),
        "costs": msgspec.structs.asdict(result.costs),
        "cluster": msgspec.structs.asdict(result.cluster),
        "balance": {**balance, "decode_engines": result.balance.decode_engines},
        "served": [{**_flat(each), "ratio": each.ratio.name} for each in result.served],
        "points": [
            {
                "ratio": each.ratio.name,
                "gpus": each.gpus,
                "sessions": each.sessions,
                "frontier": each in best,
                **_flat(each.measures),
            }
            for each in result.points
        ],
    }


def _flat(found: msgspec.Struct) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in msgspec.structs.asdict(found).items():
        if isinstance(value, tuple):
            flat[name.replace("_ms", "_p50_ms")], flat[name.replace("_ms", "_p90_ms")] = value
        else:
            flat[name] = value
    return flat


def _workload(result: Result) -> Iterator[str]:
    means, ask = result.demand, result.ask
    cap = "" if ask.numbers.think_cap_s is None else f", waits of at most {ask.numbers.think_cap_s:g} s"
    yield (
        f"workload  {result.name}{cap}: {means.turns:.0f} turns a session; on average a prompt of "
        f"{means.prompt_tokens:,.0f} tokens, {means.new_tokens:,.0f} of them new, an answer of "
        f"{means.output_tokens:,.0f}, and {means.think_s:.1f} s to the next turn"
    )
    costs, found = result.costs, ask.measured
    one, all_ = costs.decode_ms(1), costs.decode_ms(result.cluster.decode_slots)
    yield (
        f"times     prefill {costs.prefill_ms(1000, round(means.prompt_tokens)):.0f} ms for 1,000 tokens, a step "
        f"{costs.step_ms:g} ms more; a decode token {one:.1f} ms alone, {all_:.1f} with {result.cluster.decode_slots} "
        f"requests; transfer {costs.piece_us:,.1f} us a block, {costs.transfer_gb_s:.0f} GB/s"
    )
    device = result.prefill.ladder.device
    how = "by the data sheets" if device.fp8_pflops else "taken to be as fast"
    scaled = "" if measured_on(device) else f"; for {device.name}, which was never measured, {how}"
    yield (
        f"          from {found.chunk_ms:g} ms for a chunk of {found.chunk_tokens:,.0f} tokens and an ITL of "
        f"{found.itl_ms:g} ms, taken to be that of {found.itl_requests:g} requests, on gb200{scaled}"
    )


def _balance(result: Result) -> Iterator[str]:
    found, cluster = result.balance, result.cluster
    yield f"at {found.target_tokens_per_s:g} tok/s for each user, by arithmetic:"
    yield (
        f"  a session has a turn every {found.turn_s:.1f} s: {found.prefill_ms:.0f} ms of a prefill rank, and "
        f"{result.demand.output_tokens:.0f} decode tokens of {found.decode_ms:.1f} ms among "
        f"{found.decode_requests} requests"
    )
    yield (
        f"  so a session-second is {found.prefill_share * 1e3:.2f} ms of a prefill engine "
        f"({cluster.prefill_ranks * cluster.rank_gpus} GPUs) and {found.decode_share * 1e3:.2f} ms of a decode engine "
        f"({cluster.decode_gpus} GPUs): a balance of 1:{found.decode_engines:.1f}"
    )


def _served(result: Result) -> Iterator[str]:
    yield f"at {result.balance.target_tokens_per_s:g} tok/s for the median request, replayed:"
    most = max((each.gpu_tokens_per_s for each in result.served), default=0.0)
    for each in result.served:
        yield f"  {each.ratio.name:>5}  {each.gpus:>4} GPUs  {_sessions(each, best=each.gpu_tokens_per_s == most)}"


def _sessions(each: Served, *, best: bool) -> str:
    if not each.sessions:
        return "even the fewest sessions that were tried are slower"
    more = " or more" if each.more else ""
    mark = "  << most for a GPU" if best else ""
    return (
        f"{each.sessions} sessions{more}, {each.sessions / each.gpus:.1f} a GPU; {each.in_flight:.1f} requests in "
        f"flight; {each.gpu_tokens_per_s:.1f} tok/s/GPU{mark}"
    )


def _row(each: Point, best: bool) -> list[str]:
    found = each.measures
    return [
        each.ratio.name,
        f"{each.gpus}",
        f"{each.sessions}",
        f"{found.in_flight:.1f}",
        f"{found.decoding:.1f}",
        f"{found.user_tokens_per_s:.1f}{'*' if best else ' '}",
        f"{found.gpu_tokens_per_s:.1f}",
        f"{found.wait_ms[0]:.0f}",
        f"{found.ttft_ms[0] / 1e3:.2f}",
        f"{found.ttft_ms[1] / 1e3:.2f}",
        f"{found.itl_ms[0]:.2f}",
        f"{found.reuse_ratio:.3f}",
    ]


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
