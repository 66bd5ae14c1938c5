"""Tool calls measured: ``python -m benchmarks.toolcall [PART ...]``.

The parts: ``parsers``, characters a second beside vLLM's and SGLang's, which are installed apart (``python -m
components.peers vllm`` says how) and found by PYTHONPATH; ``masks``, what a tag costs the engine; ``build``, what it
costs the frontend; ``smuggling``, how many adversarial texts get past the tags. Run it on a quiet machine.
"""

import argparse
import sys
import time
from pathlib import Path
from typing import Any, Final

import msgspec

from benchmarks import machine, results
from benchmarks.command import run
from benchmarks.toolcall import build, masks, parsers, smuggling

_PACKAGES: Final = ("xgrammar", "jsonschema-rs", "msgspec")


_PARTS: Final[dict[str, Any]] = {"parsers": parsers, "masks": masks, "build": build, "smuggling": smuggling}


def _arguments() -> argparse.Namespace:
    flags = argparse.ArgumentParser(prog="python -m benchmarks.toolcall", description=__doc__)
    flags.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(_PARTS)}; else all")
    flags.add_argument("--quick", action="store_true", help="a look: one round, few texts")
    flags.add_argument("--json", type=Path, help="write every round's figures to this file")
    flags.add_argument("--write", action="store_true", help="write the tables to benchmarks/RESULTS.md")
    chosen = flags.parse_args()
    # Found now and not after the run.
    for part in chosen.parts:
        if part not in _PARTS:
            flags.error(f"there is no part {part!r}; there are {', '.join(_PARTS)}")
    if chosen.json and not chosen.json.parent.is_dir():
        flags.error(f"--json: there is no folder {chosen.json.parent}")
    return chosen


def _run(flags: argparse.Namespace) -> None:
    where = machine.describe(_PACKAGES)
    command = f"python -m benchmarks.toolcall {' '.join(sys.argv[1:])}".strip()
    figures = {}
    for name in flags.parts or _PARTS:
        part = _PARTS[name]
        figures[name], about = part.measure(quick=flags.quick)
        told = ". ".join(filter(None, (f"`{command}`, {time.strftime('%Y-%m-%d')}, {where}", about)))
        text = f"{told}.\n\n{part.report(figures[name])}"
        print(f"## {part.TITLE}\n\n{text}\n", flush=True)
        if flags.write:
            results.write(part.TITLE, text)
    if flags.json:
        flags.json.write_bytes(msgspec.json.encode({"command": command, "machine": where, "results": figures}))


def main() -> None:
    """Measure and print."""
    run("toolcall", lambda: _run(_arguments()), parsers.ParserError)


if __name__ == "__main__":
    main()
