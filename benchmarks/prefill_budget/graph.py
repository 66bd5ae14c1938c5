"""One prefill and one decode engine on CPU, as `dynamo serve` starts them."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Iterator
from pathlib import Path

import msgspec

from benchmarks.frontend.processes import BenchmarkError, free_port

_ROOT = Path(__file__).parents[2]
_STOP_LIMIT_S = 120
_LAST_LINES = 5


class Endpoint(msgspec.Struct, frozen=True):
    """Where the graph is asked.

    Attributes:
        url: Of its server.
        model: Name of its model.
    """

    url: str
    model: str


def make_model(folder: Path) -> Path:
    """Write the miniature's model below a folder and return where it is."""
    command = [sys.executable, str(_ROOT / "scripts" / "tiny_models.py"), str(folder)]
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BenchmarkError(f"scripts/tiny_models.py failed: {done.stderr.strip()[-300:]}")
    return folder / "tiny-dense"


@contextlib.contextmanager
def graph(model: Path, budget: int) -> Iterator[Endpoint]:
    """Serve `configs/cpu-dense.yaml` with one engine a stage and this prefill budget; stop it at the end.

    Args:
        model: The model's folder.
        budget: Tokens of one prefill step.

    Raises:
        BenchmarkError: If it does not start.
    """
    command = [
        str(Path(sys.executable).with_name("dynamo")),
        "serve",
        "graphs:glm53",
        "-f",
        str(_ROOT / "configs" / "cpu-dense.yaml"),
        f"--Common.model={model}",
        "--Prefill.ServiceArgs.workers=1",
        f"--Prefill.max-num-batched-tokens={budget}",
        "--Prefill.max-num-seqs=64",
        "--Decode.ServiceArgs.workers=1",
        "--Decode.max-num-seqs=64",
        f"--Frontend.http-port={free_port()}",
    ]
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, env={**os.environ, "HF_HUB_OFFLINE": "1"}
        ) as process,
    ):
        try:
            endpoint = _ready(process)
            # What it says from now on would fill the pipe, and a supervisor that cannot write stands still.
            threading.Thread(target=deque, args=(process.stdout, 0), daemon=True).start()
            yield endpoint
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(_STOP_LIMIT_S)
            except subprocess.TimeoutExpired:
                # Its guard ends what it leaves.
                process.kill()


def _ready(process: "subprocess.Popen[bytes]") -> Endpoint:
    assert process.stdout is not None  # noqa: S101 - a pipe was asked for
    said: list[str] = []
    for line in process.stdout:
        event = json.loads(line)
        if event.get("event") == "ready":
            return Endpoint(event["url"], event["model"])
        said = [*said[1 - _LAST_LINES :], event["message"]]
    raise BenchmarkError(f"the graph ended before it was ready: {' / '.join(said) or 'it said nothing'}")
