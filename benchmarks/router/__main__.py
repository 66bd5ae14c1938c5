"""What the router is worth on recorded sessions: ``python -m benchmarks.router TRACE [PART ...]``.

The parts that replay (`docs/replay.md`): ``targets``, reuse and balance beside the rules of others; ``host``, the same
with a host tier behind little device memory; ``loads``, all sessions from a light load to saturation; ``ablation``,
what each term of the cost is worth; ``prices``, what it is worth that prices correct themselves; ``frontends``, several
over one fleet. Of real processes, and only where they are named: ``live``, our frontend beside Dynamo's own over mocked
engines, and ``decision``, what a placement costs, which needs no TRACE. A part that misses what the router promises
makes the exit code 1.
"""

import argparse
import time
from pathlib import Path
from types import ModuleType
from typing import Final

from benchmarks import machine, results
from benchmarks.command import positive, run
from benchmarks.frontend.processes import BenchmarkError
from benchmarks.router import ablation, frontends, host, loads, prices, targets
from benchmarks.router.decision import part as decision
from benchmarks.router.live import part as live
from graphs.commands import pictures
from graphs.commands.replay import plots
from graphs.commands.replay.sources import open_trace
from graphs.errors import Refusal

_REPLAYS: Final[dict[str, ModuleType]] = {
    "targets": targets,
    "host": host,
    "loads": loads,
    "ablation": ablation,
    "prices": prices,
    "frontends": frontends,
}
_PARTS: Final = {**_REPLAYS, "live": live, "decision": decision}
_SEEDS: Final = 8


def _arguments() -> argparse.Namespace:
    flags = argparse.ArgumentParser(prog="python -m benchmarks.router", description=__doc__)
    flags.add_argument("trace", nargs="?", metavar="TRACE", help="as `dynamo replay` takes it; decision needs none")
    flags.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(_PARTS)}; else all replays")
    flags.add_argument(
        "--seeds", type=positive, default=_SEEDS, help=f"choices of sessions, {_SEEDS}; loads takes all, once"
    )
    flags.add_argument("--rounds", type=positive, default=live.ROUNDS, help=f"runs of live, {live.ROUNDS}")
    flags.add_argument("--plot", type=Path, metavar="FILE", help="draw loads as .svg or .png; needs matplotlib")
    flags.add_argument("--write", action="store_true", help="write the tables to benchmarks/RESULTS.md")
    chosen = flags.parse_args()
    if chosen.trace in _PARTS:
        chosen.trace, chosen.parts = None, [chosen.trace, *chosen.parts]
    # Found now and not after the run.
    for part in chosen.parts:
        if part not in _PARTS:
            flags.error(f"there is no part {part!r}; there are {', '.join(_PARTS)}")
    if chosen.trace is None and chosen.parts != ["decision"]:
        flags.error("name the TRACE; only decision needs none")
    return chosen


def _run(flags: argparse.Namespace) -> bool:
    if flags.plot:
        pictures.check(flags.plot)
    trace = open_trace(Path(flags.trace)) if flags.trace else None
    where = machine.describe(("ai-dynamo", "msgspec", "numpy"))
    met = True
    for name in flags.parts or _REPLAYS:
        part, begun = _PARTS[name], time.monotonic()
        runs = flags.rounds if part is live else flags.seeds
        found = part.measure(trace, range(runs))
        took = f"{time.monotonic() - begun:,.0f} s{' on one core' if name in _REPLAYS else ''}"
        head = (
            f"`python -m benchmarks.router {_words(part, name, runs)}`, {time.strftime('%Y-%m-%d')}, {where}; {took}."
        )
        text = f"{head}\n{part.ABOUT}\n\n{part.report(found)}"
        print(f"## {part.TITLE}\n\n{text}\n", flush=True)
        met = met and part.met(found)
        if flags.write:
            results.write(part.TITLE, text)
        if flags.plot and part is loads:
            plots.draw(flags.plot, found)
    return met


def _words(part: ModuleType, name: str, runs: int) -> str:
    """Return what the command line says of one part."""
    if part is decision:
        return name
    if part is loads:
        return f"TRACE {name}"
    return f"TRACE {name} --{'rounds' if part is live else 'seeds'} {runs}"


def main() -> None:
    """Replay and print; exit with 1 where a promise is missed."""
    run("router", lambda: _run(_arguments()), BenchmarkError, Refusal)


if __name__ == "__main__":
    main()
