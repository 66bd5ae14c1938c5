"""`dynamo replay`: run recorded or made-up agent sessions through the router and a model of the graph.

The simulation is imported by the command itself: `dynamo serve` starts without.
"""

# ruff: noqa: PLC0415 - see above.

from pathlib import Path
from typing import Annotated, Literal

import typer

from graphs.commands import options


def replay(
    context: typer.Context,
    *,
    trace: Annotated[
        Path | None, typer.Argument(metavar="TRACE", help="File or folder of sessions; without one they are made up.")
    ] = None,
    file: options.File = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="sticky, kv, kv-affinity, round-robin, …; several are compared."),
    ] = None,
    sessions: Annotated[
        int | None, typer.Option(min=1, help="How many sessions: all of a trace, or 64 made-up ones.")
    ] = None,
    turns: Annotated[int | None, typer.Option(min=1, help="Only so many turns of each session.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the sessions, arrivals and ties.")] = 0,
    seeds: Annotated[int, typer.Option(min=1, help="So many runs, each with the next seed: medians and ranges.")] = 1,
    arrivals: Annotated[Literal["spaced", "poisson", "recorded"], typer.Option(help="How sessions arrive.")] = "spaced",
    spacing_s: Annotated[
        str | None,
        typer.Option(metavar="S[,S]", help="Time between two sessions, or its mean; several are a sweep of loads. 0.7"),
    ] = None,
    think_cap_s: Annotated[float | None, typer.Option(min=0, help="Longest wait between two turns.")] = None,
    rank_kv_tokens: Annotated[int | None, typer.Option(min=1, help="KV of one prefill rank, tokens.")] = None,
    host_gib: Annotated[float | None, typer.Option(min=0, help="Host memory for KV behind all prefill ranks.")] = None,
    as_json: options.Json = False,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw it as .png or .svg: a sweep as a curve.")
    ] = None,
) -> int:
    """Replay agent sessions on a model of graphs:glm53, and compare routing policies.

    The graph is that of the configuration; --Prefill.data-parallel-size=16 and the like change it.
    """
    from graphs.commands.replay import run
    from graphs.commands.replay.ask import Ask, load_of

    ask = Ask(
        trace=trace,
        policies=tuple(policy or ("sticky", "kv")),
        sessions=sessions,
        turns=turns,
        seeds=tuple(range(seed, seed + seeds)),
        loads=load_of(arrivals, spacing_s, think_cap_s),
        plot=plot,
    )
    config = options.load_config(options.DEFAULT_TARGET, file, context.obj)
    return run.run(ask, config, rank_kv_tokens=rank_kv_tokens, host_gib=host_gib, as_json=as_json)
