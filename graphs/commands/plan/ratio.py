"""Balance the two sides of a planned graph for a workload, by arithmetic and by replays."""

import math
from collections.abc import Iterator

import msgspec

from graphs.commands import progress
from graphs.commands.plan.ask import Ask, cluster, sides
from graphs.commands.plan.engines import Planned
from graphs.commands.replay.sources import open_trace
from graphs.errors import Refusal
from graphs.ratio.balance import Balance, balance
from graphs.ratio.grid import Point, Ratio, Served, at_ratio, point, served, sessions_to_try
from graphs.ratio.prices import prices, slots
from graphs.ratio.workload import Demand, demand, described
from router.costs import Costs
from router.replay.cluster import Cluster
from router.replay.generator import generate
from router.replay.trace import Trace

_MADE_UP = 200
"""Sessions that are made up; a replay that needs more repeats them with blocks of their own."""


class Result(msgspec.Struct, frozen=True):
    """Everything that is reported of a ratio.

    Attributes:
        ask: What was asked.
        name: Of the workload.
        prefill: The one side.
        decode: The other.
        cluster: The graph as it is configured, with the ladders' memory.
        costs: What things take.
        demand: Means of the workload.
        balance: The ratio by arithmetic.
        points: What was replayed, by ratio and growing sessions.
        served: What each ratio serves at the speed that is asked for.
    """

    ask: Ask
    name: str
    prefill: Planned
    decode: Planned
    cluster: Cluster
    costs: Costs
    demand: Demand
    balance: Balance
    points: tuple[Point, ...]
    served: tuple[Served, ...]


def ratio(ask: Ask, engines: list[Planned]) -> Result:
    """Balance, then replay every ratio with every number of sessions, with a bar on a terminal.

    Raises:
        Refusal: The graph has not both sides, the workload cannot be read, or its speed cannot be had.
    """
    prefill, decode = sides(engines)
    trace = _trace(ask)
    means = demand(trace, ask.numbers.think_cap_s)
    _check_fits(means, prefill, decode)
    graph = cluster(prefill, decode, slots(decode.engine, decode.ladder))
    costs = prices(
        (prefill.engine, prefill.ladder),
        (decode.engine, decode.ladder),
        ask.measured,
        means.prompt_tokens,
        host_tokens=graph.host_tokens,
    )
    found = balance(means, costs, graph, ask.numbers.target_tok_s)
    if not found.decode_requests:
        fastest = means.output_tokens / (found.first_token_ms + means.output_tokens * costs.decode_ms(1)) * 1e3
        raise Refusal(
            f"--target-tok-s {ask.numbers.target_tok_s:g}: a user alone gets {fastest:.0f} tok/s: ask for less"
        )
    points = tuple(_points(ask, trace, graph, costs, found))
    by_ratio = [[each for each in points if each.ratio == one] for one in ask.ratios]
    at_target = tuple(served(each, ask.numbers.target_tok_s) for each in by_ratio)
    return Result(ask, trace.name, prefill, decode, graph, costs, means, found, points, at_target)


def _trace(ask: Ask) -> Trace:
    if ask.trace is not None:
        return open_trace(ask.trace)
    if ask.workload in {None, "agents"}:
        return msgspec.structs.replace(generate(_MADE_UP, ask.numbers.seed), name="made-up agents")
    return described(ask.workload or "", _MADE_UP, ask.numbers.seed)


def _check_fits(means: Demand, prefill: Planned, decode: Planned) -> None:
    whole = means.prompt_tokens + means.output_tokens
    for each, needs, what in (
        (prefill, means.prompt_tokens, "the mean prompt"),
        (decode, whole, "the mean prompt and its answer"),
    ):
        room = each.ladder.gpu_tokens * each.ladder.topology.decode_context
        if room < needs:
            raise Refusal(
                f"{each.engine.name}: a rank keeps {room:,} tokens, fewer than {what} of "
                f"{needs:,.0f}: make room for it, see its memory without a workload"
            )


def _points(ask: Ask, trace: Trace, graph: Cluster, costs: Costs, found: Balance) -> Iterator[Point]:
    planned = [(one, count) for one in ask.ratios for count in ask.sessions or sessions_to_try(_most(one, found))]
    with progress.of_runs(len(planned)) as tell:
        for one, count in planned:
            shown = f"{one.name}, {count} sessions"

            def share(done: float, shown: str = shown) -> None:
                tell(shown, done)

            yield point(
                trace,
                at_ratio(graph, one),
                costs,
                count,
                think_cap_s=ask.numbers.think_cap_s,
                seed=ask.numbers.seed,
                tell=share,
            )
            tell(shown, math.inf)


def _most(one: Ratio, found: Balance) -> float:
    """How many sessions have the speed that is asked for, if nothing is ever waited for."""
    return min(one.prefill / found.prefill_share, one.decode / found.decode_share)
