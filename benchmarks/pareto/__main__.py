"""Predict Prime Inference's point of the Pareto curve: ``python -m benchmarks.pareto TRACE``.

The replay of `dynamo plan` is fitted on separate measurements, the prefill chunk, the ITL at 64 sessions and the pair
of transfers, and then says what 66 sessions get on one DEP8 prefill engine and four TP4 decoders, where 101 tok/s for
each user and 100 tok/s for each of 24 GPUs were published. Nothing is fitted on that point.
"""

import argparse
import sys
import time
from pathlib import Path
from typing import Final

from benchmarks import machine, results
from benchmarks.command import positive, run
from benchmarks.pareto.deployment import ITL_SESSIONS, Run
from benchmarks.pareto.predict import Prediction, fit, predictions, sensitivities
from benchmarks.pareto.table import report
from graphs.commands.replay.sources import open_trace
from graphs.errors import Refusal
from graphs.ratio.grid import STOP_S, WARM_S
from graphs.ratio.measured import Measured

_TITLE: Final = "pareto"
_SEEDS: Final = 3
_CAP_S: Final = 10.0


def _arguments() -> argparse.Namespace:
    flags = argparse.ArgumentParser(prog="python -m benchmarks.pareto", description=__doc__)
    flags.add_argument("trace", metavar="TRACE", help="as `dynamo replay` takes it")
    flags.add_argument("--seeds", type=positive, default=_SEEDS, help=f"orders of sessions, {_SEEDS}")
    flags.add_argument("--write", action="store_true", help="write the tables to benchmarks/RESULTS.md")
    return flags.parse_args()


def _run(flags: argparse.Namespace) -> bool:
    begun = time.monotonic()
    trace = open_trace(Path(flags.trace))
    found: list[Prediction] = list(predictions(trace, range(flags.seeds), STOP_S, WARM_S, _tell))
    _tell(f"each measurement a fifth larger, waits of at most {_CAP_S:g} s")
    fitted, _ = fit(trace, Run(Measured(), _CAP_S, sessions=ITL_SESSIONS), STOP_S, WARM_S)
    moved = list(sensitivities(trace, fitted, _CAP_S, STOP_S, WARM_S))
    head = (
        f"`python -m benchmarks.pareto TRACE --seeds {flags.seeds}`, {time.strftime('%Y-%m-%d')}, "
        f"{machine.describe(('msgspec', 'numpy'))}; {time.monotonic() - begun:,.0f} s on one core."
    )
    text = f"{head}\n{report(found, moved, _CAP_S)}"
    print(f"## {_TITLE}\n\n{text}\n")
    if flags.write:
        results.write(_TITLE, text)
    return True


def _tell(what: str) -> None:
    if sys.stderr.isatty():
        print(what, file=sys.stderr)


def main() -> None:
    """Predict and print."""
    run("pareto", lambda: _run(_arguments()), Refusal)


if __name__ == "__main__":
    main()
