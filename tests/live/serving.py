"""A graph under test: the real `dynamo serve`, its log as objects, and what it leaves behind."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from graphs.machine import free_ports

DYNAMO = Path(sys.executable).with_name("dynamo")
MARK = "DYNAMO_LIVE_TEST"
READY_LIMIT_S = 60.0
STOP_LIMIT_S = 60.0


def free_port() -> int:
    """A port that nobody listens on, and that no outgoing connection is given before it is used."""
    (port,) = free_ports(1)
    return port


def until(true: Callable[[], object], what: str, limit_s: float = 20.0) -> None:
    """Look until it is so, and fail with `what` when it does not come."""
    end = time.monotonic() + limit_s
    while not true():
        assert time.monotonic() < end, f"not within {limit_s:g} s: {what}"
        time.sleep(0.01)


class Graph:
    """`dynamo serve graphs:glm53`, started in a home, a folder for temporary files and a working directory of its own.

    All that it starts inherits a mark in its environment, by which it is found, wherever it went.
    """

    def __init__(self, folder: Path, *overrides: str) -> None:
        self.folders = [folder / name for name in ("home", "tmp", "work")]
        for private in self.folders:
            private.mkdir(parents=True)
        self.port = free_port()
        self.lines: list[dict[str, Any]] = []
        self._mark = uuid.uuid4().hex
        self._errors = folder / "stderr"
        self._heard = threading.Condition()
        self._ended = False
        self._pids: dict[int, float] = {}
        self._ports: set[int] = set()
        self._shared: set[str] = set()
        with self._errors.open("wb") as stderr:
            self.process = subprocess.Popen(
                [DYNAMO, "serve", "graphs:glm53", f"--Frontend.http-port={self.port}", *overrides],
                stdout=subprocess.PIPE,
                stderr=stderr,
                cwd=folder / "work",
                env={**os.environ, "HOME": str(folder / "home"), "TMPDIR": str(folder / "tmp"), MARK: self._mark},
                start_new_session=True,
            )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def wait_until_ready(self) -> None:
        """Wait for the ready line."""
        ready = self.wait_for("ready", limit_s=READY_LIMIT_S)
        self.url: str = ready["url"]
        self.model: str = ready["model"]

    def wait_for(self, event: str, service: str | None = None, limit_s: float = 20.0) -> dict[str, Any]:
        """Wait for an event of the log, also one that was written before; its line."""
        seen = 0
        end = time.monotonic() + limit_s
        with self._heard:
            while True:
                for line in self.lines[seen:]:
                    if line.get("event") == event and service in (None, line["service"]):
                        return line
                seen = len(self.lines)
                assert not self._ended, f"the output ended first; {self.tail()}"
                assert self._heard.wait(end - time.monotonic()), f"no {event} within {limit_s:g} s; {self.tail()}"

    def metric(self, name: str, **labels: str) -> float:
        """Sum of the frontend's samples of this name that have these labels."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request("GET", "/metrics")
            text = connection.getresponse().read().decode()
        finally:
            connection.close()
        wanted = [f'{label}="{value}"' for label, value in labels.items()]
        samples = (line for line in text.splitlines() if line.startswith((name + "{", name + " ")))
        return sum(float(line.rsplit(" ", 1)[1]) for line in samples if all(label in line for label in wanted))

    def processes(self, service: str) -> list[psutil.Process]:
        """The living processes of one service."""
        started = {line["pid"] for line in self.lines if line.get("event") == "started" and line["service"] == service}
        return [process for process in self._marked() if process.pid in started]

    def stop(self, number: int) -> int:
        """Send a signal and wait for the end; the exit code."""
        self.note()
        self.process.send_signal(number)
        code = self.process.wait(STOP_LIMIT_S)
        self._reader.join(STOP_LIMIT_S)
        return code

    def note(self) -> None:
        """Take down which processes, ports and shared memory there are now, for `left` to look for."""
        for process in self._marked():
            with suppress(psutil.NoSuchProcess):
                self._pids[process.pid] = process.create_time()
                connections = process.net_connections("inet")
                self._ports |= {each.laddr.port for each in connections if each.status == psutil.CONN_LISTEN}
                self._shared |= {each.path for each in process.memory_maps() if each.path.startswith("/dev/shm/")}  # noqa: S108 - looked for, not written
        assert self.port in self._ports
        assert len(self._pids) >= 7, "a supervisor, a frontend, a prefill worker and four decoders"

    def remote_addresses(self) -> set[str]:
        """Addresses that its processes are connected to."""
        connections = [each for process in self._marked() for each in process.net_connections("inet")]
        return {each.raddr.ip for each in connections if each.raddr}

    def left(self) -> list[str]:
        """Processes, ports and files that are still there."""
        found = [f"process {process.pid} {process.name()}" for process in self._marked()]
        found += [f"process {pid}" for pid, born in self._pids.items() if _lives(pid, born)]
        found += [f"port {port}" for port in self._ports if _listens(port)]
        found += [f"file {path}" for folder in self.folders for path in _contents(folder)]
        return found + [f"file {path}" for path in self._shared if Path(path).exists()]

    def assert_nothing_left(self) -> None:
        """Fail with the list of what is left."""
        left = self.left()
        assert not left, "\n".join(left)

    def errors(self) -> str:
        """What it wrote to standard error."""
        return self._errors.read_text()

    def tail(self) -> str:
        """Its last lines, for the message of a failed assertion."""
        said = [f"{line['service']}: {line['message']}" for line in self.lines[-20:]]
        return "\n".join(["the last lines:", *said, self.errors()])

    def destroy(self) -> None:
        """End it, whatever state it is in."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        for process in self._marked():
            with suppress(psutil.NoSuchProcess):
                process.kill()
        self._reader.join(STOP_LIMIT_S)

    def _read(self) -> None:
        output = self.process.stdout
        assert output is not None
        with output:
            for text in output:
                line = json.loads(text)
                with self._heard:
                    self.lines.append(line)
                    self._heard.notify_all()
        with self._heard:
            self._ended = True
            self._heard.notify_all()

    def _marked(self) -> Iterator[psutil.Process]:
        for process in psutil.process_iter():
            with suppress(psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
                if process.environ().get(MARK) == self._mark:
                    yield process


def _contents(folder: Path) -> Iterator[str]:
    # Not Path.rglob, which fails when a folder goes while it looks.
    for parent, folders, files in os.walk(folder):
        yield from (f"{parent}/{name}" for name in [*folders, *files])


def _lives(pid: int, born: float) -> bool:
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        return process.create_time() == born and process.status() != psutil.STATUS_ZOMBIE
    return False


def _listens(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0
