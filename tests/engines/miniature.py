"""A graph of real engines under test: `dynamo serve` on one of `configs/cpu-*.yaml`, and the engines' counters."""

import json
import os
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil

from tests.live.chat import Json
from tests.live.serving import Graph

ROOT = Path(__file__).parents[2]
READY_LIMIT_S = 420.0
"""A minute on two quiet cores; engines import torch and vLLM three times each."""

STATUS_PORT = "DYN_SYSTEM_PORT"

BYTES = "vllm:nixl_bytes_transferred_sum"
TRANSFERS = "vllm:nixl_bytes_transferred_count"
FAILED = "vllm:nixl_num_failed_transfers_total"
"""What a decoder counts of its pulls; each of its tensor-parallel ranks pulls by itself."""


class Miniature(Graph):
    """One configuration with its tiny model, the model's folder given.

    Args:
        folder: For its home, temporary files and working directory.
        config: Name of the file in `configs`, without `.yaml`.
        model: Folder of the model.
        shared: Folder that all starts share, for what vLLM finds out about model classes.
        overrides: As on the command line.
    """

    def __init__(self, folder: Path, config: str, model: Path, shared: Path, *overrides: str) -> None:
        sides = [f"--{side}.ServiceArgs.envs.VLLM_CACHE_ROOT={shared / 'cache'}" for side in ("Prefill", "Decode")]
        file = str(ROOT / "configs" / f"{config}.yaml")
        super().__init__(folder, "-f", file, f"--Common.model={model}", *sides, *overrides)

    def wait_until_ready(self) -> None:
        """Wait for the ready line."""
        ready = self.wait_for("ready", limit_s=READY_LIMIT_S)
        self.url: str = ready["url"]
        self.model: str = ready["model"]

    def state(self) -> Json:
        """What the router knows of the model."""
        known: Json = json.loads(_get(f"{self.url}/router/state"))["models"][self.model]
        return known

    def decision(self) -> Json:
        """Where the last request went, and why."""
        decision: Json = self.state()["decisions"][0]
        return decision

    def engines(self, service: str) -> list["Engine"]:
        """The living engines of one service, in the order of their start."""
        found = []
        for process in self.processes(service):
            # One that was killed may go between two looks.
            with suppress(psutil.NoSuchProcess):
                found.append(Engine(process))
        return sorted(found, key=lambda engine: engine.process.create_time())

    def engine_of(self, worker: str | None) -> "Engine":
        """The engine behind a place of the router, `worker:rank`."""
        assert worker is not None, "the choice was left to Dynamo"
        wanted = f"{int(worker.partition(':')[0]):x}"
        every = [*self.engines("Prefill"), *self.engines("Decode")]
        (found,) = [engine for engine in every if engine.worker_id == wanted]
        return found

    def left(self) -> list[str]:
        """Processes, ports and files that are still there, but for the model cards that Dynamo keeps for later."""
        return [each for each in super().left() if not each.startswith(f"file {self.folders[0]}/.cache")]

    def _marked(self) -> Iterator[psutil.Process]:
        # An engine's inner processes overwrite their environment (setproctitle does) and stay in its session.
        sessions = {line["pid"] for line in self.lines if line.get("event") == "started"}
        for process in psutil.process_iter():
            with suppress(psutil.NoSuchProcess, psutil.AccessDenied, ProcessLookupError):
                if os.getsid(process.pid) in sessions and process.status() != psutil.STATUS_ZOMBIE:
                    yield process
                    continue
        yield from (process for process in super()._marked() if os.getsid(process.pid) not in sessions)


class Engine:
    """One `dynamo.vllm` process and its counters."""

    def __init__(self, process: psutil.Process) -> None:
        self.process = process
        # psutil keeps the time, so that it is known of the dead as well.
        process.create_time()
        self._port = process.environ()[STATUS_PORT]

    def registered(self, graph: Miniature) -> bool:
        """Whether the supervisor has seen it serve its endpoint."""
        ready = (line["pid"] for line in graph.lines if line.get("event") == "process-ready")
        return self.process.pid in ready

    @property
    def core(self) -> psutil.Process:
        """Its scheduler's process, the NIXL side channel in it."""
        (core,) = [child for child in self.process.children(recursive=True) if "EngineCore" in child.name()]
        return core

    @property
    def worker_id(self) -> str:
        """Its instance id, in hexadecimal as in its metrics."""
        line = next(line for line in self._samples() if 'worker_id="' in line)
        return line.partition('worker_id="')[2].partition('"')[0].lstrip("0")

    def counter(self, name: str, **labels: str) -> float:
        """Sum of the samples of this name that have these labels: over the engine's ranks, where none are given."""
        wanted = [f'{label}="{value}"' for label, value in labels.items()]
        lines = (line for line in self._samples() if line.startswith((name + "{", name + " ")))
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines if all(label in line for label in wanted))

    def _samples(self) -> list[str]:
        return _get(f"http://127.0.0.1:{self._port}/metrics").splitlines()


def _get(url: str) -> str:
    with urllib.request.urlopen(url, timeout=20) as answer:  # noqa: S310 - our own server
        text: str = answer.read().decode()
    return text
