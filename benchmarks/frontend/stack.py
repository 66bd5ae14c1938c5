"""What runs: the stand-in model, the workers, and one frontend at a time."""

import contextlib
import http.client
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.frontend.processes import BenchmarkError, Processes, free_port
from benchmarks.frontend.workload import MOCKED, STREAMS
from components.local.model import make_model

_READY_LIMIT_S = 60
_POLL_S = 0.02


@dataclass(frozen=True)
class Frontend:
    """A frontend to measure.

    Attributes:
        name: Key of its figures.
        command: Its command line behind ``python``, the port left out.
        env: What is set for it.
    """

    name: str
    command: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)


_DYNAMO = ("-m", "dynamo.frontend", "--router-mode", "kv", "--http-host", "127.0.0.1")
OURS = Frontend("ours", ("-m", "components.frontend", "--router-mode", "kv"))
DYNAMO = Frontend("dynamo", _DYNAMO)
UNCACHED = Frontend("dynamo-uncached", _DYNAMO, {"DYN_TOKENIZER_CACHE": "0"})
FLOOR = Frontend("floor", ("-m", "benchmarks.frontend.floor"))
MODELS = (MOCKED, *(model for model in STREAMS.values() if model != MOCKED))


def model_folder(processes: Processes) -> Path:
    """Make the stand-in model and return its folder."""
    folder = processes.folder / "model"
    make_model(folder)
    return folder


def start_workers(processes: Processes, model: Path) -> None:
    """Start the mockers, prefill DP8 and two decoders, and the scripted workers."""
    # 1000 is as fast as the mocker gets: 0, documented as infinite, is real time.
    mocker = ["-m", "dynamo.mocker", "--model-path", str(model), "--model-name", MOCKED, "--speedup-ratio", "1000"]
    mocker += ["--block-size", "64", "--max-model-len", "262144"]
    prefill = ["--disaggregation-mode", "prefill", "--data-parallel-size", "8", "--num-gpu-blocks-override", "16384"]
    prefill += ["--max-num-batched-tokens", "16384", "--max-num-seqs", "64"]
    decode = ["--disaggregation-mode", "decode", "--num-workers", "2", "--num-gpu-blocks-override", "32768"]
    processes.start("prefill", [*mocker, *prefill])
    processes.start("decode", [*mocker, *decode])
    for name in MODELS[1:]:
        kind, _, size = name.partition("-")
        command = ["-m", "benchmarks.frontend.scripted", "--model-path", str(model), "--model-name", name]
        processes.start(name, [*command, "--kind", kind, "--tokens-per-chunk", size])


@contextlib.contextmanager
def running(processes: Processes, frontend: Frontend, models: Sequence[str] = MODELS) -> Iterator[tuple[int, int]]:
    """Start a frontend and yield its port and process id once every model answers."""
    port = free_port()
    process = processes.start(frontend.name, [*frontend.command, "--http-port", str(port)], frontend.env)
    try:
        _wait_until_served(processes, port, models)
        yield port, process.pid
    finally:
        processes.stop(frontend.name)


def _wait_until_served(processes: Processes, port: int, models: Sequence[str]) -> None:
    """Return when a chat completion of every model is answered.

    Raises:
        BenchmarkError: If that takes more than a minute, or a process ends.
    """
    deadline = time.monotonic() + _READY_LIMIT_S
    waiting = list(models)
    while waiting:
        processes.check()
        if time.monotonic() > deadline:
            raise BenchmarkError(f"no answer from {', '.join(waiting)} within {_READY_LIMIT_S} s")
        if _answers(port, waiting[0]):
            waiting.pop(0)
        else:
            time.sleep(_POLL_S)


def _answers(port: int, model: str) -> bool:
    body = {"model": model, "messages": [{"role": "user", "content": "Hello"}], "max_tokens": 1}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_READY_LIMIT_S)
    try:
        connection.request("POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json"})
        return connection.getresponse().status == http.HTTPStatus.OK
    except OSError:
        return False
    finally:
        connection.close()
