"""What the number of pieces costs a KV transfer: ``python -m benchmarks.nixl``.

Real NIXL between two processes (DRAM, UCX) moves the KV of one request of GLM-5.3, cut layer-major and block-major.
The pieces are those of `components/kvcache/layouts`, region after region as vLLM orders them, through the call that
vLLM makes. Blocks lie anywhere in their pools, so that no two of them are neighbours, but for the cases that say
fresh. Run it on a quiet machine, in the engines' environment.
"""

import argparse
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import msgspec

from benchmarks import machine, results
from benchmarks.command import positive, run
from benchmarks.nixl.cases import SCALES, Case, comparisons
from benchmarks.nixl.memory import THREADS, NixlError, load
from benchmarks.nixl.peer import Link, Times, link
from benchmarks.nixl.table import Measured, report

_ROUNDS = 9
_SCALE = 32
_PACKAGES = ("nixl-cu12", "numpy")


def _arguments() -> argparse.Namespace:
    flags = argparse.ArgumentParser(prog="python -m benchmarks.nixl", description=__doc__)
    flags.add_argument(
        "--scale",
        type=int,
        choices=SCALES,
        default=_SCALE,
        help=f"move as many pieces of that part of their bytes; {_SCALE}. 1 needs 20 GB of memory",
    )
    flags.add_argument("--rounds", type=positive, default=_ROUNDS, help=f"transfers of every case; {_ROUNDS}")
    flags.add_argument("--json", type=Path, help="write every transfer's figures to this file")
    flags.add_argument("--write", action="store_true", help="write the tables to benchmarks/RESULTS.md")
    chosen = flags.parse_args()
    # Found now and not after the run.
    if chosen.json and not chosen.json.parent.is_dir():
        flags.error(f"--json: there is no folder {chosen.json.parent}")
    return chosen


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _measure(connected: Link, name: str, cases: tuple[Case, ...], rounds: int) -> list[Measured]:
    begun = time.monotonic()
    with ExitStack() as stack:
        ready = [stack.enter_context(connected.transfer(case)) for case in cases]
        for transfer in ready:
            transfer.check()
        times: list[list[Times]] = [[] for _ in cases]
        for index in range(rounds):
            # Every other round the other way about, so that none is always measured behind the same one.
            for place in range(len(cases)) if index % 2 == 0 else reversed(range(len(cases))):
                times[place].append(ready[place].move())
    _say(f"{name}: {len(cases)} cuts, {rounds} rounds, {time.monotonic() - begun:.0f} s")
    return [Measured(case, tuple(some)) for case, some in zip(cases, times, strict=True)]


def _run(flags: argparse.Namespace) -> None:
    compared = dict(comparisons(flags.scale))
    pool_bytes = max(case.pool_bytes for cases in compared.values() for case in cases)
    load()
    where = machine.describe(_PACKAGES)
    with link(pool_bytes) as connected:
        measured = {name: _measure(connected, name, cases, flags.rounds) for name, cases in compared.items()}
    command = f"python -m benchmarks.nixl {' '.join(sys.argv[1:])}".strip()
    scaled = f"Bytes are 1/{flags.scale} of a request's, pieces all of them. " if flags.scale > 1 else ""
    text = (
        f"`{command}`, {time.strftime('%Y-%m-%d')}, {where}.\n"
        f"{scaled}{THREADS} UCX threads an agent, merging of neighbours on, every word checked on arrival; "
        f"medians of {flags.rounds} transfers, cuts in turn, ratios within a round.\n\n{report(measured)}"
    )
    print(text)
    if flags.json:
        flags.json.write_bytes(msgspec.json.encode({"command": command, "machine": where, "results": measured}))
    if flags.write:
        results.write("nixl", text)


def main() -> None:
    """Measure, print, and leave no process behind."""
    run("nixl", lambda: _run(_arguments()), NixlError)


if __name__ == "__main__":
    main()
