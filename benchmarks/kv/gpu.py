"""Whether the NVFP4 kernels are right on this GPU, and how fast: ``python -m benchmarks.kv.gpu``.

It checks decode against float64 over the decoded rows and the writer against the codec, times our kernel and those of
others that are installed beside merely reading the same selection, and says which share of the measured copy bandwidth
it reads rows at. One GPU of compute capability 8.9 or above; needs PyTorch and Triton, a few minutes and up to 20 GB.
"""

# ruff: noqa: PLC0415 - what needs torch and Triton is imported once they are known to be there.

import argparse
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
from rich.console import Console
from rich.progress import track

from benchmarks import machine, results
from benchmarks.command import positive, run
from benchmarks.kv.cases import CONTEXTS, HEADS, PROMISED_SHARE, PROMISED_TOKENS, TOKENS, cases
from benchmarks.kv.table import Device, Measured, choices, kept, merged, report
from components.kvcache.choice import Choice, read

if TYPE_CHECKING:
    import torch

_ROUNDS: Final = 20
_LEAST_CAPABILITY: Final = (8, 9)


class NotHereError(Exception):
    """The benchmark cannot run here, or a kernel is wrong: one line a problem."""


def arguments(argv: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    flags = argparse.ArgumentParser(prog="python -m benchmarks.kv.gpu", description=__doc__)
    flags.add_argument("--rounds", type=positive, default=_ROUNDS, help=f"replays of every case; {_ROUNDS}")
    flags.add_argument("--heads", type=positive, nargs="+", default=list(HEADS), help="heads of a rank; %(default)s")
    flags.add_argument("--tokens", type=positive, nargs="+", default=list(TOKENS), help="query tokens; %(default)s")
    flags.add_argument(
        "--contexts", type=positive, nargs="+", default=list(CONTEXTS), help="tokens of a request; %(default)s"
    )
    flags.add_argument("--json", type=Path, help="write every case's figures to this file")
    flags.add_argument(
        "--choice",
        type=Path,
        help="put what was fastest on this GPU into this table, ahead of its other rows; the engines' is "
        "components/kvcache/choice.json",
    )
    flags.add_argument("--write", action="store_true", help="write the table to benchmarks/RESULTS.md")
    chosen = flags.parse_args(argv)
    # Found now and not after the run.
    for flag in ("json", "choice"):
        path = getattr(chosen, flag)
        if path and not path.parent.is_dir():
            flags.error(f"--{flag}: there is no folder {path.parent}")
        if path and path.is_dir():
            flags.error(f"--{flag}: {path} is a folder: name a file")
    return chosen


def gpu() -> "torch.device":
    """Return the GPU.

    Raises:
        NotHereError: There is none that the kernels run on, or PyTorch or Triton is missing.
    """
    missing = [name for name in ("torch", "triton") if find_spec(name) is None]
    if missing:
        raise NotHereError(f"{' and '.join(missing)} not installed here: pip install 'dynamo-glm[kv]'")
    import torch

    if not torch.cuda.is_available():
        raise NotHereError("torch finds no CUDA GPU here: run it where there is one of compute capability 8.9 or above")
    capability = torch.cuda.get_device_capability()
    if capability < _LEAST_CAPABILITY:
        raise NotHereError(f"the GPU has compute capability {capability[0]}.{capability[1]}: it needs 8.9 or above")
    return torch.device("cuda")


def write_choice(path: Path, found: list[Choice]) -> None:
    """Put measured rows into a table of choices, a new one where there is none.

    Raises:
        ValueError: The file is there and is no such table.
    """
    rows = merged(read(path) if path.exists() else (), found)
    partial = path.with_suffix(".partial")
    partial.write_bytes(msgspec.json.format(msgspec.json.encode(rows), indent=2) + b"\n")
    partial.replace(path)


def _check(device: "torch.device") -> None:
    from benchmarks.kv.check import check

    bad = []
    for found in check(device):
        print(f"{'ok ' if found.good else 'BAD'} {found.name}: {found.error:.2e}, at most {found.most:.0e}")
        if not found.good:
            bad.append(f"{found.name}: error {found.error:.2e} is above {found.most:.0e}")
    if bad:
        raise NotHereError("\n".join(bad))


def _measure(flags: argparse.Namespace, device: "torch.device") -> tuple[Device, list[Measured]]:
    import torch

    from benchmarks.kv.contenders import contenders
    from benchmarks.kv.measure import device_of, measure, pools

    found = device_of(device, flags.rounds)
    pool = pools(device, torch.cuda.mem_get_info(device)[0])
    console = Console(stderr=True)
    wanted = track(
        cases(flags.heads, flags.tokens, flags.contexts),
        description="timing",
        console=console,
        disable=not console.is_terminal,
    )
    return found, [measure(case, pool, contenders(device, case.heads, case.context), flags.rounds) for case in wanted]


def _run(flags: argparse.Namespace) -> bool:
    device = gpu()
    if flags.choice and flags.choice.exists():
        read(flags.choice)
    _check(device)
    found, measured = _measure(flags, device)
    date = time.strftime("%Y-%m-%d")
    command = f"python -m benchmarks.kv.gpu {' '.join(sys.argv[1:])}".strip()
    where = f"{found.name}, {machine.describe(('torch', 'triton'))}"
    text = (
        f"`{command}`, {date}, {where}.\n"
        f"Copying reads and writes {found.copy_gigabytes_per_second:,.0f} GB/s. Selected rows are 352 bytes each, "
        f"medians of {flags.rounds} replays of CUDA graphs whose launches all read other rows.\n\n"
        f"{report(found, measured)}"
    )
    print(text)
    if flags.json:
        figures = {"command": command, "machine": where, "device": found, "results": measured}
        flags.json.write_bytes(msgspec.json.encode(figures))
    if flags.choice:
        write_choice(flags.choice, choices(found, measured, date))
    if flags.write:
        results.write("kv", text)
    fast = kept(found, measured)
    if not fast:
        print(f"below {PROMISED_SHARE:.0%} of the copy bandwidth at {PROMISED_TOKENS} tokens or more", file=sys.stderr)
    return fast


def main() -> None:
    """Check, measure and print."""
    run("kv", lambda: _run(arguments()), NotHereError, ValueError)


if __name__ == "__main__":
    main()
