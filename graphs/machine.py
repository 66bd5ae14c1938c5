"""What this machine has: GPUs, what they can do, and free ports."""

import os
import random
import shutil
import socket
import subprocess
from dataclasses import dataclass

from graphs.errors import Refusal

_PORTS = range(20000, 32768)


@dataclass(frozen=True)
class Machine:
    """What a plan may use.

    Attributes:
        gpus: Indices of the GPUs, as `CUDA_VISIBLE_DEVICES` counts them.
        ports: Consecutive free ports, as many as all processes take.
        capability: The lowest compute capability of its GPUs, such as (10, 0), or None where nobody can say.
    """

    gpus: tuple[int, ...] = ()
    ports: tuple[int, ...] = ()
    capability: tuple[int, int] | None = None


def detect_gpus() -> tuple[int, ...]:
    """The GPUs that this process may use: those of `CUDA_VISIBLE_DEVICES`, else those that `nvidia-smi` lists.

    Raises:
        Refusal: `CUDA_VISIBLE_DEVICES` is not a list of indices.
    """
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES")
    if chosen is not None:
        try:
            return tuple(int(index) for index in chosen.split(",") if index.strip())
        except ValueError as error:
            raise Refusal(f"CUDA_VISIBLE_DEVICES={chosen}: write GPU indices with commas, such as 0,1,2,3") from error
    return tuple(int(line) for line in _nvidia_smi("index"))


def lowest_capability() -> tuple[int, int] | None:
    """The lowest compute capability of this machine's GPUs, or None without GPUs or `nvidia-smi`."""
    found = [line.partition(".") for line in _nvidia_smi("compute_cap")]
    return min(((int(major), int(minor)) for major, _, minor in found if minor.isdigit()), default=None)


def _nvidia_smi(field: str) -> list[str]:
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    query = [program, f"--query-gpu={field}", "--format=csv,noheader"]
    found = subprocess.run(query, capture_output=True, text=True, check=False, timeout=30)  # noqa: S603 - found on PATH.
    return found.stdout.split() if found.returncode == 0 else []


def free_ports(count: int) -> tuple[int, ...]:
    """Consecutive ports that nothing on this machine uses at this moment, from a random one on.

    They lie below the range from which the kernel gives ports to outgoing connections, so none of those takes one
    before the worker does. Runtime 1.6.1 reads its status port as a signed 16-bit number, which asks for the same.

    Raises:
        Refusal: There are not so many in a row.
    """
    starts = range(_PORTS.start, _PORTS.stop - count + 1)
    for start in random.sample(starts, len(starts)):
        ports = tuple(range(start, start + count))
        if all(map(_is_free, ports)):
            return ports
    raise Refusal(
        f"{count} free ports in a row are needed from {_PORTS.start} to {_PORTS.stop - 1}: end what uses them"
    )


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            # Some workers listen on loopback and some on every address: it must be free on all of them.
            probe.bind(("", port))
        except OSError:
            return False
    return True
