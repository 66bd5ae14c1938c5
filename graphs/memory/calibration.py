"""What vLLM says of a GPU's memory when it starts, in place of what is assumed.

vLLM 0.31 logs two lines that are read here, at level INFO, whatever stands before them on the line:

    Model loading took 110.9 GiB memory and 61.2 seconds
    Free memory on device (183.1/185.03 GiB) on startup. Desired GPU memory utilization is (0.92, 170.23 GiB). Actual
      usage is 114.4 GiB for consumed memory (weights + non-torch), 0.9 GiB for peak activation, and 1.7 GiB for
      CUDAGraph memory. [...] Current kv cache memory in use is 54.2 GiB.

(`v1/worker/gpu/model_runner.py` and `v1/worker/gpu_worker.py`; the second is one line.) The last of each counts: of
several ranks in one log, and of several starts.
"""

import re
from pathlib import Path
from typing import Final

import msgspec

from graphs.errors import Refusal
from graphs.memory.devices import GIB
from graphs.memory.ladder import Engine

_LOADING: Final = re.compile(r"Model loading took (?P<loading>\d+(?:\.\d+)?) GiB")
_USAGE: Final = re.compile(
    r"Free memory on device \(\d+(?:\.\d+)?/(?P<total>\d+(?:\.\d+)?) GiB\) on startup\. "
    r"Desired GPU memory utilization is \((?P<utilization>\d+(?:\.\d+)?), \d+(?:\.\d+)? GiB\)\. "
    r"Actual usage is (?P<consumed>\d+(?:\.\d+)?) GiB for consumed memory \(weights \+ non-torch\), "
    r"(?P<activation>\d+(?:\.\d+)?) GiB for peak activation, and (?P<graphs>\d+(?:\.\d+)?) GiB for CUDAGraph memory\."
    r".*Current kv cache memory in use is (?P<kv>\d+(?:\.\d+)?) GiB"
)


class Startup(msgspec.Struct, frozen=True):
    """One GPU as vLLM found it, in GiB.

    Attributes:
        total: Its memory.
        utilization: `gpu-memory-utilization`, a share of that.
        loading: Weights, as torch holds them.
        consumed: Weights and what is not torch's: context, collectives.
        activation: The peak of a step.
        graphs: CUDA graphs.
        kv: What was left for KV.
    """

    total: float
    utilization: float
    loading: float
    consumed: float
    activation: float
    graphs: float
    kv: float


def read(path: Path) -> Startup:
    """Read a start-up log.

    Raises:
        Refusal: It cannot be read, or lacks one of the lines.
    """
    try:
        text = path.read_text(errors="replace")
    except OSError as error:
        raise Refusal(f"--calibrate {path}: {error.strerror}: name a log of vLLM's start") from error
    found: dict[str, str] = {}
    for line, pattern in (("Model loading took", _LOADING), ("Free memory on device", _USAGE)):
        matches = list(pattern.finditer(text))
        if not matches:
            raise Refusal(f"--calibrate {path}: no line {line!r} as vLLM 0.31 writes it, at level INFO and to the end")
        found |= matches[-1].groupdict()
    return msgspec.convert(found, Startup, strict=False)


def calibrated(engine: Engine, startup: Startup) -> Engine:
    """Return the engine with what a start of it measured."""

    def size(gib: float) -> int:
        return round(gib * GIB)

    settings = engine.settings.model_copy(update={"gpu_memory_utilization": startup.utilization})
    # Torch counts none of the three, and vLLM tells them in one figure.
    outside = {"cuda-context": size(startup.consumed - startup.loading), "collectives": 0, "all-to-all": 0}
    # Graphs are captured when KV has its memory, and count against it only where vLLM estimated them before.
    budget = startup.total * startup.utilization
    counted = max(0.0, budget - startup.consumed - startup.activation - startup.kv)
    return msgspec.structs.replace(
        engine,
        settings=settings,
        device=msgspec.structs.replace(engine.device, hbm_bytes=size(startup.total)),
        logged={**outside, "activations": size(startup.activation), "cuda-graphs": size(counted)},
        logged_weights_bytes=size(startup.loading),
    )
