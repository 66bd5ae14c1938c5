"""The processes of a benchmark: started quiet, none left behind."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from graphs.supervisor import guard

ROOT = Path(__file__).parents[2]
_STOP_LIMIT_S = 10
_LAST_LINES = 5

Process = subprocess.Popen[bytes]


class BenchmarkError(RuntimeError):
    """A process or an answer was not what the benchmark needs; one line says which."""


class Processes:
    """Starts processes with a private folder for discovery, logs and request bodies.

    Args:
        folder: The private folder.
        mark: Environment by which the guard knows them.
    """

    def __init__(self, folder: Path, mark: Mapping[str, str]) -> None:
        self.folder = folder
        # One file store, loopback TCP and ZMQ: no service beside the processes.
        planes = {"DYN_DISCOVERY_BACKEND": "file", "DYN_REQUEST_PLANE": "tcp", "DYN_EVENT_PLANE": "zmq"}
        quiet = {"DYN_LOG": "error", "HF_HUB_OFFLINE": "1"}
        self._env = {**os.environ, **planes, **quiet, "DYN_FILE_KV": str(folder / "store"), **mark}
        self._running: dict[str, Process] = {}

    def start(self, name: str, command: Sequence[str], env: Mapping[str, str] | None = None) -> Process:
        """Start ``python`` with a command line, in a session of its own; its output goes to ``NAME.log``."""
        with (self.folder / f"{name}.log").open("wb") as log:
            self._running[name] = subprocess.Popen(
                [sys.executable, *command],
                cwd=ROOT,
                env={**self._env, **(env or {})},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        return self._running[name]

    def run(self, name: str, command: Sequence[str]) -> bytes:
        """Run ``python`` with a command line to its end and return its output.

        Raises:
            BenchmarkError: If it fails.
        """
        done = subprocess.run(
            [sys.executable, *command],
            cwd=ROOT,
            env=self._env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        if done.returncode:
            raise BenchmarkError(f"{name} failed: {_last_lines(done.stderr)}")
        return done.stdout

    def check(self) -> None:
        """Raise BenchmarkError if a process that should run has ended."""
        for name, process in self._running.items():
            if process.poll() is not None:
                said = _last_lines((self.folder / f"{name}.log").read_bytes())
                raise BenchmarkError(f"{name} ended with code {process.returncode}: {said}")

    def stop(self, name: str) -> None:
        """End a process: SIGTERM, then SIGKILL for it and what it started."""
        process = self._running.pop(name)
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_STOP_LIMIT_S)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def stop_all(self) -> None:
        """End all, the last started first."""
        for name in reversed(list(self._running)):
            self.stop(name)


def _last_lines(output: bytes) -> str:
    return " / ".join(output.decode(errors="replace").strip().splitlines()[-_LAST_LINES:]) or "it said nothing"


@contextlib.contextmanager
def processes() -> Iterator[Processes]:
    """Yield a `Processes` in a new folder; at the end, however it comes, neither a process nor the folder is left."""
    folder = Path(tempfile.mkdtemp(prefix="benchmark-"))
    (folder / "store").mkdir()
    graph_id = uuid.uuid4().hex
    name, _, value = guard.mark(graph_id, "benchmark").decode().rstrip("\0").partition("=")
    command = [sys.executable, "-I", "-S", guard.__file__]
    env = {guard.GUARDED_GRAPH: graph_id, guard.GUARDED_FOLDER: str(folder)}
    # The guard lives until its standard input ends, so it also cleans up behind a benchmark that was killed.
    with subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True, env=env) as last:
        group = Processes(folder, {name: value})
        try:
            yield group
        finally:
            group.stop_all()
            assert last.stdin is not None  # noqa: S101 - a pipe was asked for
            last.stdin.close()
            last.wait()


def free_port() -> int:
    """Return a port nobody listens on; every frontend gets a new one, for old connections can hold the last."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
