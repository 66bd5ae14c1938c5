"""What this machine has: GPUs and free ports."""

import os
import random
import shutil
import socket
import subprocess
from dataclasses import dataclass
from itertools import islice

from graphs.errors import Refusal

_PORTS = range(20000, 32768)


@dataclass(frozen=True)
class Machine:
    """What a plan may use.

    Attributes:
        gpus: Indices of the GPUs, as `CUDA_VISIBLE_DEVICES` counts them.
        ports: Free ports on loopback, one for each process at least.
    """

    gpus: tuple[int, ...] = ()
    ports: tuple[int, ...] = ()


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
    program = shutil.which("nvidia-smi")
    if program is None:
        return ()
    query = [program, "--query-gpu=index", "--format=csv,noheader"]
    found = subprocess.run(query, capture_output=True, text=True, check=False, timeout=30)  # noqa: S603 - found on PATH.
    return tuple(int(line) for line in found.stdout.split()) if found.returncode == 0 else ()


def free_ports(count: int) -> tuple[int, ...]:
    """Ports on loopback that nothing uses at this moment, all different.

    They lie below the range from which the kernel gives ports to outgoing connections, so none of those takes one
    before the worker does. Runtime 1.6.1 reads its status port as a signed 16-bit number, which asks for the same.

    Raises:
        Refusal: There are not so many.
    """
    candidates = random.sample(_PORTS, len(_PORTS))
    ports = tuple(islice(filter(_is_free, candidates), count))
    if len(ports) < count:
        raise Refusal(f"{count} free ports are needed from {_PORTS.start} to {_PORTS.stop - 1}: end what uses them")
    return ports


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
