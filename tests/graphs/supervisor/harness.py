"""Graphs of small real programs, run by the supervisor in a process of its own."""

import contextlib
import json
import os
import pickle
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import psutil

from graphs.process import Plan, ProcessSpec
from graphs.supervisor import Options, RestartPolicy
from graphs.supervisor.guard import GUARDED_FOLDER

SERVE = Path(__file__).with_name("serve_plan.py")
TAG = "SUPERVISOR_TEST"
QUICK = RestartPolicy(first_wait_s=0.01, longest_wait_s=0.02, stable_s=60, limit=3, window_s=60)

# Says that it runs, ends with code 0 on SIGTERM.
POLITE = """
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
print("up", flush=True)
signal.sigwait([signal.SIGTERM])
print("bye", flush=True)
"""

# Ends only by SIGKILL.
STUBBORN = """
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("up", flush=True)
while True:
    signal.pause()
"""

# Listens on the port argv[1] once the file argv[2] exists.
LISTENER = """
import os, signal, socket, sys, time
while not os.path.exists(sys.argv[2]):
    time.sleep(0.005)
listening = socket.create_server(("127.0.0.1", int(sys.argv[1])))
signal.pause()
"""


def spec(name: str, code: str, *args: object, **fields: Any) -> ProcessSpec:
    """A process `Service-replica` that runs Python code."""
    service, _, replica = name.partition("-")
    argv = (sys.executable, "-I", "-S", "-c", code, *map(str, args))
    return ProcessSpec(name, service, int(replica or 0), argv, **fields)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def until(true: Callable[[], object], limit_s: float = 20.0) -> None:
    """Look until it is so."""
    end = time.monotonic() + limit_s
    while not true():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.005)


def environ(process: psutil.Process) -> dict[str, str]:
    """Its environment; none when it has ended or is another user's."""
    with contextlib.suppress(psutil.Error):
        return process.environ()
    return {}


@dataclass
class Graph:
    """A supervisor at work on a plan, its output read as JSON lines."""

    process: subprocess.Popen[bytes]
    run_dir: Path
    tag: str
    errors: Path
    lines: list[dict[str, Any]] = field(default_factory=list)

    def wait_for(self, event: str, service: str | None = None) -> dict[str, Any]:
        """Read on to an event."""
        for line in self._read():
            if line.get("event") == event and service in (None, line["service"]):
                return line
        raise AssertionError(f"the output ended without {event} of {service}: {self.lines}")

    def wait_until_said(self, message: str, *services: str) -> None:
        """Read on until each of these services has said it."""
        missing = set(services) - {service for service, text in self.said() if text == message}
        lines = self._read()
        while missing:
            line = next(lines)
            if line["message"] == message:
                missing.discard(line["service"])

    def wait_until(self, true: Callable[[], object]) -> None:
        """Read on until it is so."""
        lines = self._read()
        while not true():
            assert next(lines, None) is not None, f"the output ended before: {self.lines}"

    def wait_briefly(self) -> None:
        """Give it a moment to end."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(0.2)

    def said(self) -> list[tuple[str, str]]:
        """The lines of the processes read so far, as (service, message)."""
        return [(line["service"], line["message"]) for line in self.lines if "event" not in line]

    def send(self, number: int) -> None:
        self.process.send_signal(number)

    def end(self) -> int:
        """Read all, wait, and see that nothing is left."""
        for _ in self._read():
            pass
        code = self.process.wait()
        assert self.left() == []
        assert not self.run_dir.exists()
        return code

    def events(self, *names: str) -> list[tuple[str, str]]:
        """The events read so far, or those of some names, as (event, service)."""
        seen = [(line["event"], line["service"]) for line in self.lines if "event" in line]
        return [event for event in seen if not names or event[0] in names]

    def left(self) -> list[str]:
        """What lives of this run: processes of the graph, and the guard."""
        return [text for process in psutil.process_iter() if (text := self._ours(process))]

    def guards(self) -> list[psutil.Process]:
        """Its guard, if there is one now."""
        return [child for child in psutil.Process(self.process.pid).children() if GUARDED_FOLDER in environ(child)]

    def _ours(self, process: psutil.Process) -> str:
        env = environ(process)
        ours = env.get(TAG) == self.tag or env.get(GUARDED_FOLDER) == str(self.run_dir)
        return str(process) if ours else ""

    def _read(self) -> Iterator[dict[str, Any]]:
        output = self.process.stdout
        assert output is not None
        for text in iter(output.readline, b""):
            self.lines.append(json.loads(text))
            yield self.lines[-1]


def launch(folder: Path, *specs: ProcessSpec, stdout: int | IO[bytes] = subprocess.PIPE, **options: Any) -> Graph:
    """Start a supervisor on a plan of these processes."""
    run_dir = Path(tempfile.mkdtemp(dir=folder))
    (run_dir / "discovery").mkdir()
    plan = Plan("test", specs, run_dir)
    file = folder / f"{uuid.uuid4().hex}.plan"
    file.write_bytes(pickle.dumps((plan, Options(**{"terminal": False, "restarts": QUICK, **options}))))
    tag = uuid.uuid4().hex
    errors = file.with_suffix(".errors")
    with errors.open("wb") as stderr:
        process = subprocess.Popen(
            [sys.executable, SERVE, file], stdout=stdout, stderr=stderr, env={**os.environ, TAG: tag}
        )
    return Graph(process, run_dir, tag, errors)


def destroy(graph: Graph) -> None:
    """End it whatever state it is in."""
    graph.process.kill()
    graph.process.wait()
    if graph.process.stdout is not None:
        graph.process.stdout.close()
    until(lambda: not graph.left())
