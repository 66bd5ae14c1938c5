"""Our frontend beside Dynamo's own, over the same workers: ``python -m benchmarks.frontend``.

Frontends take turns; workers stay. Client, workers and frontend share the machine's cores, so tokens/s and requests/s
are limits of the machine, and CPU a token or a request is the frontend's own. Run it on a quiet machine.
"""

import argparse
import os
import sys
import time
from pathlib import Path

import msgspec
from tokenizers import Tokenizer

from benchmarks import machine, results
from benchmarks.command import positive, run
from benchmarks.frontend import profile, stack
from benchmarks.frontend.corpus import Corpus
from benchmarks.frontend.measure import Figures, measure
from benchmarks.frontend.processes import BenchmarkError, Processes, processes
from benchmarks.frontend.table import tables
from benchmarks.frontend.workload import FULL, QUICK

_ROUNDS = 3
_FRONTENDS = (stack.OURS, stack.DYNAMO, stack.UNCACHED, stack.FLOOR)
_PACKAGES = ("ai-dynamo", "tokenizers", "uvloop", "xgrammar")


def _arguments() -> argparse.Namespace:
    flags = argparse.ArgumentParser(prog="python -m benchmarks.frontend", description=__doc__)
    flags.add_argument(
        "--rounds",
        type=positive,
        default=None,
        help=f"runs of every frontend, alternating; {_ROUNDS}, or 1 when quick",
    )
    flags.add_argument("--quick", action="store_true", help="a look, within a minute: few samples, one round")
    flags.add_argument("--json", type=Path, help="write every round's figures to this file")
    flags.add_argument("--write", action="store_true", help="write the table to benchmarks/RESULTS.md")
    flags.add_argument("--profile", action="store_true", help="say where our frontend's time goes, instead")
    chosen = flags.parse_args()
    # Found now and not after the run.
    if chosen.json and not chosen.json.parent.is_dir():
        flags.error(f"--json: there is no folder {chosen.json.parent}")
    return chosen


def _rounds(group: Processes, corpus: Corpus, flags: argparse.Namespace) -> dict[str, list[Figures]]:
    rounds: dict[str, list[Figures]] = {frontend.name: [] for frontend in _FRONTENDS}
    amount = QUICK if flags.quick else FULL
    count = flags.rounds or (1 if flags.quick else _ROUNDS)
    for index in range(count):
        # Every other round the other way about, so that none is always measured behind the same one.
        for frontend in _FRONTENDS if index % 2 == 0 else reversed(_FRONTENDS):
            begun = time.monotonic()
            figures = measure(group, frontend, corpus, amount, f"{os.getpid()}/{index}/{frontend.name}")
            rounds[frontend.name].append(figures)
            _say(f"round {index + 1} of {count}: {frontend.name} took {time.monotonic() - begun:.0f} s")
    return rounds


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _run(flags: argparse.Namespace) -> None:
    where = machine.describe(_PACKAGES)
    with processes() as group:
        model = stack.model_folder(group)
        corpus = Corpus(Tokenizer.from_file(str(model / "tokenizer.json")))
        stack.start_workers(group, model)
        if flags.profile:
            title, body, data = "frontend profile", *profile.profile(group, corpus)
        else:
            rounds = _rounds(group, corpus, flags)
            title, body, data = "frontend", tables(rounds), rounds
    command = f"python -m benchmarks.frontend {' '.join(sys.argv[1:])}".strip()
    text = f"`{command}`, {time.strftime('%Y-%m-%d')}, {where}.\n\n{body}"
    print(text)
    if flags.json:
        flags.json.write_bytes(msgspec.json.encode({"command": command, "machine": where, "results": data}))
    if flags.write:
        results.write(title, text)


def main() -> None:
    """Measure, print, and leave no process behind."""
    run("frontend", lambda: _run(_arguments()), BenchmarkError)


if __name__ == "__main__":
    main()
