import os
import pty
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from graphs.process import PortReady
from tests.graphs.supervisor.harness import LISTENER, POLITE, STUBBORN, Graph, free_port, spec, until

Serve = Callable[..., Graph]

# Starts programs that outlive their parent, each in its own way, says their ids, and goes on.
FAMILY = f"""
import os, subprocess, sys, time
def run(**how):
    return subprocess.Popen([sys.executable, "-I", "-S", "-c", {STUBBORN!r}], **how).pid
ids = [run(), run(start_new_session=True), run(env={{}})]
if os.fork() == 0:
    os.setsid()
    ids = [run()]
    print("family", *ids, flush=True)
    os._exit(0)
print("family", *ids, flush=True)
time.sleep(1000)
"""


def family(graph: Graph) -> list[psutil.Process]:
    """The four processes that a `FAMILY` started."""
    graph.wait_until(lambda: len([text for _, text in graph.said() if text.startswith("family")]) == 2)
    texts = [text for _, text in graph.said() if text.startswith("family")]
    return [psutil.Process(int(pid)) for text in texts for pid in text.split()[1:]]


def gone(processes: list[psutil.Process]) -> bool:
    return not any(process.is_running() and process.status() != psutil.STATUS_ZOMBIE for process in processes)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_rank_after_rank_and_the_exit_code_is_0(serve: Serve, number: signal.Signals) -> None:
    graph = serve(
        spec("Prefill-0", POLITE, stop_rank=2), spec("Decode-0", POLITE, stop_rank=1), spec("Frontend", POLITE)
    )
    graph.wait_until_said("up", "Prefill", "Decode", "Frontend")
    graph.send(number)
    assert graph.end() == 0
    assert graph.events("stopping", "stopped", "ended") == [
        ("stopping", "Frontend"),
        ("stopped", "Frontend"),
        ("stopping", "Decode"),
        ("stopped", "Decode"),
        ("stopping", "Prefill"),
        ("stopped", "Prefill"),
        ("ended", "dynamo"),
    ]
    assert [service for service, text in graph.said() if text == "bye"] == ["Frontend", "Decode", "Prefill"]


def test_a_process_that_outlasts_its_limit_is_killed_and_the_exit_code_says_so(serve: Serve) -> None:
    graph = serve(spec("Frontend", STUBBORN, drain_limit_s=0.1), spec("Decode-0", POLITE, stop_rank=1))
    graph.wait_until_said("up", "Frontend", "Decode")
    graph.send(signal.SIGTERM)
    assert graph.end() == 143
    assert graph.events("killed", "stopped") == [("killed", "Frontend"), ("stopped", "Frontend"), ("stopped", "Decode")]


def test_a_second_signal_kills_at_once(serve: Serve) -> None:
    graph = serve(spec("Frontend", STUBBORN, drain_limit_s=1000), spec("Decode-0", STUBBORN, stop_rank=1))
    graph.wait_until_said("up", "Frontend", "Decode")
    graph.send(signal.SIGINT)
    graph.wait_for("stopping", "Frontend")
    while graph.process.poll() is None:  # The first repetitions may still count as the same signal.
        graph.send(signal.SIGINT)
        graph.wait_briefly()
    assert graph.end() == 130
    assert ("killing", "dynamo") in graph.events()


def test_a_signal_that_comes_twice_at_once_is_one(serve: Serve) -> None:
    graph = serve(spec("Frontend", POLITE))
    graph.wait_until_said("up", "Frontend")
    graph.send(signal.SIGINT)
    graph.send(signal.SIGTERM)
    assert graph.end() == 0
    assert "killing" not in dict(graph.events())


def test_a_signal_while_processes_start_stops_those_that_run(serve: Serve, tmp_path: Path) -> None:
    port = free_port()
    waiting = spec("Prefill-0", LISTENER, port, tmp_path / "never", ready=PortReady("127.0.0.1", port))
    graph = serve(waiting, spec("Decode-0", POLITE, after=("Prefill-0",)))
    graph.wait_for("started", "Prefill")
    graph.send(signal.SIGTERM)
    assert graph.end() == 0
    assert graph.events("started") == [("started", "Prefill")]


def test_kill_9_of_the_supervisor_leaves_nothing(serve: Serve) -> None:
    graph = serve(spec("Decode-0", FAMILY), spec("Frontend", STUBBORN))
    graph.wait_until_said("up", "Frontend")
    processes = family(graph)
    assert not gone(processes)
    graph.process.kill()
    until(lambda: not graph.left())
    assert gone(processes)
    assert not graph.run_dir.exists()


def test_kill_9_of_the_supervisor_right_at_the_start_leaves_nothing(serve: Serve) -> None:
    graph = serve(*(spec(f"Decode-{at}", STUBBORN) for at in range(6)))
    graph.wait_for("started")
    graph.process.kill()
    until(lambda: not graph.left())
    assert not graph.run_dir.exists()


def test_a_killed_guard_is_replaced_and_the_next_one_knows_all(serve: Serve) -> None:
    graph = serve(spec("Decode-0", FAMILY))
    processes = family(graph)
    graph.guards()[0].kill()
    graph.wait_for("guard")
    until(graph.guards)
    graph.process.kill()
    until(lambda: not graph.left())
    assert gone(processes)
    assert not graph.run_dir.exists()


def test_the_guard_is_not_named_after_the_graph_so_that_pkill_spares_it(serve: Serve) -> None:
    graph = serve(spec("Decode-0", POLITE))
    graph.wait_until_said("up", "Decode")
    command = " ".join(graph.guards()[0].cmdline())
    assert str(graph.run_dir) not in command
    assert "serve" not in command


def test_what_a_process_started_ends_with_the_graph(serve: Serve) -> None:
    graph = serve(spec("Decode-0", FAMILY))
    processes = family(graph)
    graph.send(signal.SIGTERM)
    assert graph.end() == 0
    assert gone(processes)


def test_ports_are_free_after_the_end(serve: Serve, tmp_path: Path) -> None:
    port = free_port()
    graph = serve(spec("Decode-0", LISTENER, port, tmp_path, ready=PortReady("127.0.0.1", port)))
    graph.wait_for("ready")
    graph.send(signal.SIGTERM)
    assert graph.end() == 0
    with socket.create_server(("127.0.0.1", port), reuse_port=False):
        pass


def test_a_failed_graph_is_stopped_in_order_and_told_in_one_line(serve: Serve) -> None:
    graph = serve(
        spec("Frontend", POLITE),
        spec("Decode-0", "import time\nprint('out of memory', flush=True)\nraise SystemExit(3)", restart="fail"),
        spec("Prefill-0", POLITE, stop_rank=2),
    )
    assert graph.end() == 1
    assert graph.events("died", "failed", "stopped") == [
        ("died", "Decode"),
        ("failed", "dynamo"),
        ("stopped", "Frontend"),
        ("stopped", "Prefill"),
    ]
    assert graph.errors.read_text() == "Decode-0 exited with code 3; its last line: out of memory\n"


def test_a_signal_while_a_failed_graph_is_stopped_kills_at_once(serve: Serve, tmp_path: Path) -> None:
    fuse = tmp_path / "fuse"
    dies = f"import os, time\nwhile not os.path.exists({str(fuse)!r}): time.sleep(0.005)"
    graph = serve(spec("Frontend", STUBBORN, drain_limit_s=1000), spec("Decode-0", dies, restart="fail"))
    graph.wait_until_said("up", "Frontend")
    fuse.touch()
    graph.wait_for("stopping", "Frontend")
    graph.send(signal.SIGINT)
    assert graph.end() == 1


def test_the_graph_stops_when_nobody_reads_its_output(serve: Serve) -> None:
    graph = serve(spec("Decode-0", "while True:\n    print('a line', flush=True)"))
    graph.wait_for("ready")
    assert graph.process.stdout is not None
    graph.process.stdout.close()
    assert graph.process.wait() == 1
    assert graph.left() == []
    assert graph.errors.read_text() == "nobody reads the output any more\n"


def test_a_reader_that_pauses_stalls_no_process_and_loses_no_line(serve: Serve, tmp_path: Path) -> None:
    done = tmp_path / "done"
    writes = f"""
import signal
for at in range(20_000):
    print(at, "x" * 100)
print("done", flush=True)
open({str(done)!r}, "w")
signal.pause()
"""
    graph = serve(spec("Decode-0", writes))
    until(done.exists)
    graph.wait_until_said("done", "Decode")
    graph.send(signal.SIGTERM)
    assert graph.end() == 0
    assert [int(text.split()[0]) for _, text in graph.said()[:-1]] == list(range(20_000))


def test_the_last_words_of_a_process_are_heard_before_its_death(serve: Serve) -> None:
    dies = "import os\nos.write(2, b'to stderr\\n')\nos.write(1, b'without an end of line')\nos.abort()"
    graph = serve(spec("Decode-0", dies, restart="fail"))
    assert graph.end() == 1
    died = graph.lines[[line.get("event") for line in graph.lines].index("died")]
    assert died["last_lines"] == ["to stderr", "without an end of line"]
    assert died["message"].startswith("Decode-0 was killed by SIGABRT")
    assert graph.said() == [("Decode", "to stderr"), ("Decode", "without an end of line")]


def test_a_terminal_gets_prefixes_colours_and_a_banner(serve: Serve) -> None:
    master, slave = pty.openpty()
    with os.fdopen(slave, "wb") as terminal:
        graph = serve(spec("Frontend", POLITE), spec("Decode-0", POLITE), stdout=terminal, terminal=True, colour=True)
    text = ""
    while text.count("up\r\n") < 2 or "Ctrl-C" not in text:
        text += os.read(master, 65_536).decode()
    graph.send(signal.SIGINT)
    assert graph.process.wait() == 0
    assert "\x1b[36mFrontend │\x1b[0m up\r\n" in text
    assert "\x1b[32mDecode-0 │\x1b[0m up\r\n" in text
    assert "\x1b[1mtest is ready after" in text
    os.close(master)


def test_a_terminal_that_closes_stops_the_graph(serve: Serve) -> None:
    master, slave = pty.openpty()
    with os.fdopen(slave, "wb") as terminal:
        graph = serve(spec("Decode-0", POLITE), stdout=terminal, terminal=True)
    text = ""
    while "up\r\n" not in text:
        text += os.read(master, 65_536).decode()
    os.close(master)
    graph.send(signal.SIGHUP)
    graph.process.wait()
    assert graph.left() == []
    assert not graph.run_dir.exists()


def test_nothing_stays_open_in_a_process_that_supervises_twice(tmp_path: Path) -> None:
    program = """
import os, sys, tempfile
from pathlib import Path
from graphs.process import Plan, ProcessSpec
from graphs.supervisor import Options, run

def once():
    spec = ProcessSpec("Decode-0", "Decode", 0, (sys.executable, "-I", "-S", "-c", "pass"), restart="fail")
    assert run(Plan("test", (spec,), Path(tempfile.mkdtemp())), Options(terminal=False)) == 1
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return len(os.listdir("/proc/self/fd")), children

before = len(os.listdir("/proc/self/fd"))
for _ in range(2):
    assert once() == (before, [])
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
