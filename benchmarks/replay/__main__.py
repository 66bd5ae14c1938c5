"""Whether our replay can be believed: ``python -m benchmarks.replay validate [TRACE]``.

The same sessions run through our replay and through Dynamo's own (`dynamo.replay`), which routes with its real router
core, and must come to the same reuse and balance. Without a trace, generated sessions are taken.
"""

import argparse
import sys
import time
from pathlib import Path

from benchmarks import machine, results
from benchmarks.command import positive, run
from benchmarks.replay.validate import BALANCE_TOLERANCE, REUSE_TOLERANCE, Comparison, compare, table
from graphs.commands.replay.sources import open_trace
from graphs.errors import Refusal
from router.replay.generator import generate
from router.replay.trace import Trace

_SESSIONS, _RUNS = 64, 8
_SEED = 0


def _arguments() -> argparse.Namespace:
    flags = argparse.ArgumentParser(prog="python -m benchmarks.replay", description=__doc__)
    commands = flags.add_subparsers(required=True, metavar="COMMAND")
    validate = commands.add_parser("validate", help="our replay beside Dynamo's own")
    validate.add_argument("trace", nargs="?", type=Path, help="as `dynamo replay` takes it; generated without")
    validate.add_argument("--sessions", type=positive, default=_SESSIONS, help=f"how many; {_SESSIONS}")
    validate.add_argument("--runs", type=positive, default=_RUNS, help=f"runs of each side; {_RUNS}")
    validate.add_argument("--write", action="store_true", help="write the table to benchmarks/RESULTS.md")
    return flags.parse_args()


def _trace(path: Path | None, sessions: int) -> Trace:
    return generate(sessions, _SEED) if path is None else open_trace(path)


def _validate(flags: argparse.Namespace) -> bool:
    where = machine.describe(("ai-dynamo",))
    begun = time.monotonic()
    comparisons: list[Comparison] = []
    for each in compare(_trace(flags.trace, flags.sessions), flags.sessions, flags.runs):
        comparisons.append(each)
        print(f"{time.monotonic() - begun:4.0f} s: {table([each]).splitlines()[-1]}", file=sys.stderr, flush=True)
    source = "recorded sessions" if flags.trace else "generated sessions"
    head = f"`python -m benchmarks.replay validate`, {source}, {time.strftime('%Y-%m-%d')}, {where}."
    limits = f"To agree, medians may differ by {REUSE_TOLERANCE} in reuse and {BALANCE_TOLERANCE} in balance."
    text = f"{head}\n{limits}\n\n{table(comparisons)}"
    print(text)
    if flags.write:
        results.write(f"replay validation, {source}", text)
    return all(each.agrees for each in comparisons)


def main() -> None:
    """Compare and print; exit with 1 where the two do not agree."""
    run("replay", lambda: _validate(_arguments()), Refusal)


if __name__ == "__main__":
    main()
