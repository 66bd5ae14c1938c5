"""What the router is worth on recorded sessions: ``python -m benchmarks.router TRACE [PART ...]``.

The parts, all of them replays (`docs/replay.md`): ``targets``, reuse and balance beside the rules of others; ``host``,
the same with a host tier behind little device memory; ``loads``, all sessions from a light load to saturation;
``ablation``, what each term of the cost is worth. A part that misses what the router promises makes the exit code 1.
"""

import argparse
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Final

from benchmarks import machine, results
from benchmarks.flags import INTERRUPTED, positive
from benchmarks.router import ablation, host, loads, targets
from graphs.commands.replay import plots
from graphs.commands.replay.sources import open_trace
from graphs.errors import Refusal

_PARTS: Final[dict[str, ModuleType]] = {"targets": targets, "host": host, "loads": loads, "ablation": ablation}
_SEEDS: Final = 8


def _arguments() -> argparse.Namespace:
    flags = argparse.ArgumentParser(prog="python -m benchmarks.router", description=__doc__)
    flags.add_argument("trace", type=Path, metavar="TRACE", help="as `dynamo replay` takes it")
    flags.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(_PARTS)}; else all")
    flags.add_argument(
        "--seeds", type=positive, default=_SEEDS, help=f"choices of sessions, {_SEEDS}; loads takes all, once"
    )
    flags.add_argument("--plot", type=Path, metavar="FILE", help="draw loads as .svg or .png; needs matplotlib")
    flags.add_argument("--write", action="store_true", help="write the tables to benchmarks/RESULTS.md")
    chosen = flags.parse_args()
    # Found now and not after the run.
    for part in chosen.parts:
        if part not in _PARTS:
            flags.error(f"there is no part {part!r}; there are {', '.join(_PARTS)}")
    return chosen


def _run(flags: argparse.Namespace) -> bool:
    if flags.plot:
        plots.check(flags.plot)
    trace = open_trace(flags.trace)
    where = machine.describe(("msgspec", "numpy"))
    met = True
    for name in flags.parts or _PARTS:
        part, begun = _PARTS[name], time.monotonic()
        found = part.measure(trace, range(flags.seeds))
        took = f"{time.monotonic() - begun:,.0f} s on one core"
        seeds = "" if part is loads else f" --seeds {flags.seeds}"
        head = f"`python -m benchmarks.router TRACE {name}{seeds}`, {time.strftime('%Y-%m-%d')}, {where}; {took}."
        text = f"{head}\n{part.ABOUT}\n\n{part.report(found)}"
        print(f"## {part.TITLE}\n\n{text}\n", flush=True)
        met = met and part.met(found)
        if flags.write:
            results.write(part.TITLE, text)
        if flags.plot and part is loads:
            plots.draw(flags.plot, found)
    return met


def main() -> None:
    """Replay and print; exit with 1 where a promise is missed."""
    try:
        sys.exit(0 if _run(_arguments()) else 1)
    except Refusal as error:
        sys.exit(f"benchmarks.router: {error}")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
