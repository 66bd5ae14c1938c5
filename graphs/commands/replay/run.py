"""Run what was asked and report it."""

import json
import math
import sys

from graphs.commands import pictures
from graphs.commands.progress import Tell, of_runs
from graphs.commands.replay import document, plots
from graphs.commands.replay.ask import Ask, source_of, trace_of
from graphs.commands.replay.cluster import cluster_of
from graphs.commands.replay.results import Results, size_of
from graphs.config import Config
from router.replay.baselines import router
from router.replay.cluster import Load
from router.replay.report import Run, rank_tokens, steady
from router.replay.series import series
from router.replay.simulate import Replay
from router.replay.trace import Trace

_TELL_EVERY = 128
"""Requests between two movements of the progress bar."""


def run(ask: Ask, config: Config, *, rank_kv_tokens: int | None, host_gib: float | None, as_json: bool) -> int:
    """Replay every policy at every load with every seed; the exit code.

    Raises:
        Refusal: Something that was asked cannot be done; nothing was replayed then.
    """
    ask.check()
    if ask.plot is not None:
        pictures.check(ask.plot)
    cluster, costs = cluster_of(config, rank_kv_tokens, host_gib)
    source = source_of(ask)
    results = Results(ask, cluster, costs)
    with of_runs(len(ask.seeds) * len(ask.loads) * len(ask.policies)) as tell:
        for seed in ask.seeds:
            trace = trace_of(ask, source, seed)
            results.sizes.append(size_of(trace, seed))
            for load in ask.loads:
                for policy in ask.policies:
                    _replay(results, trace, load, policy, tell)
    if as_json:
        sys.stdout.write(json.dumps(document.as_json(results)) + "\n")
    else:
        sys.stdout.writelines(f"{line}\n" for line in document.as_text(results))
    if ask.plot is not None:
        plots.draw(ask.plot, results)
    return 0


def _replay(results: Results, trace: Trace, load: Load, policy: str, tell: Tell) -> None:
    cluster, costs, seed = results.cluster, results.costs, results.sizes[-1].seed
    requests = sum(len(session.turns) for session in trace.sessions)
    shown = f"{policy}, seed {seed}"

    def progress(served: int) -> None:
        if served % _TELL_EVERY == 0:
            tell(shown, served / requests)

    replay = Replay(trace, router(policy, costs, seed), cluster, load, costs, seed=seed, progress=progress)
    measures = replay.run()
    tell(shown, math.inf)
    ranks = cluster.prefill_engines * cluster.prefill_ranks
    spacing_s = None if load.arrivals == "recorded" else load.spacing_s
    steady_tokens = steady(replay.served) / cluster.gpus
    results.runs.append(Run(policy, spacing_s, seed, measures, steady_tokens, rank_tokens(replay.served, ranks)))
    if results.ask.plot is not None and policy not in results.series:
        results.series[policy] = series(replay.served, ranks)
