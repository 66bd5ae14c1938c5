import signal
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from graphs.process import ChatReady, HttpReady, PortReady
from tests.graphs.supervisor.harness import LISTENER, POLITE, Graph, free_port, spec

Serve = Callable[..., Graph]

# Dies after its 30th line until the file argv[1] has as many bytes as argv[2] says; each life adds one.
MORTAL = """
import sys
with open(sys.argv[1], "a") as file:
    file.write("x")
    life = file.tell()
if life > int(sys.argv[2]):
    import signal
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    print("alive", flush=True)
    signal.sigwait([signal.SIGTERM])
else:
    for at in range(30):
        print(f"line {at} of life {life}")
    sys.exit(7)
"""

# An OpenAI server for one model: writes each path it is asked for.
CHAT = """
import http.server, json, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self):
        print("asked", self.path, flush=True)
        body = json.dumps({"data": [{"id": "glm"}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    do_GET = do_POST = answer
server = http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
print("listening", flush=True)
server.serve_forever()
"""


def test_a_process_starts_when_those_before_it_are_ready(serve: Serve, tmp_path: Path) -> None:
    port = free_port()
    open_it = tmp_path / "open"
    graph = serve(
        spec("Mooncake", LISTENER, port, open_it, ready=PortReady("127.0.0.1", port), stop_rank=1),
        spec("Prefill-0", f"open({str(open_it)!r}, 'w')\nimport signal; signal.pause()"),
        spec("Decode-0", POLITE, after=("Mooncake", "Prefill-0")),
    )
    graph.wait_for("ready")
    order = graph.events("started", "process-ready", "ready")
    assert order.index(("process-ready", "Mooncake")) < order.index(("started", "Decode"))
    assert order.index(("process-ready", "Prefill")) < order.index(("started", "Decode"))
    assert order.index(("started", "Prefill")) < order.index(("process-ready", "Mooncake"))
    assert order[-1] == ("ready", "dynamo")
    graph.send(signal.SIGTERM)
    assert graph.end() == 0


def test_a_chat_is_asked_for_when_all_others_are_ready(serve: Serve, tmp_path: Path) -> None:
    web, port = free_port(), free_port()
    open_it = tmp_path / "open"
    graph = serve(
        spec("Frontend", CHAT, web, ready=ChatReady(f"http://127.0.0.1:{web}", "glm")),
        spec("Decode-0", LISTENER, port, open_it, ready=PortReady("127.0.0.1", port)),
    )
    graph.wait_until_said("listening", "Frontend")
    graph.wait_briefly()  # Long enough for a question that comes too early.
    open_it.touch()
    graph.wait_for("ready")
    ready = [line.get("event") == "process-ready" and line["service"] == "Decode" for line in graph.lines].index(True)
    asked = [line["message"] for line in graph.lines if line["message"].startswith("asked")]
    assert asked == ["asked /v1/models", "asked /v1/chat/completions"]
    assert not any(line["message"].startswith("asked") for line in graph.lines[:ready])
    graph.send(signal.SIGTERM)
    assert graph.end() == 0


def test_a_process_that_is_not_ready_in_time_fails_the_graph_with_the_reason_and_its_last_line(serve: Serve) -> None:
    url = f"http://127.0.0.1:{free_port()}/health"
    code = "print('loading weights', flush=True)\nimport signal; signal.pause()"
    graph = serve(spec("Decode-0", code, ready=HttpReady(url), ready_limit_s=0.3), spec("Prefill-0", POLITE))
    assert graph.end() == 1
    error = graph.errors.read_text()
    assert error.startswith(f"Decode-0 was not ready within 0.3 s (GET {url} failed: ")
    assert error.endswith("; its last line: loading weights\n")
    assert error.count("\n") == 1
    assert ("ready", "dynamo") not in graph.events()


def test_a_process_that_dies_before_it_is_ready_fails_the_graph_at_once(serve: Serve) -> None:
    ready = PortReady("127.0.0.1", free_port())
    graph = serve(spec("Decode-0", "raise SystemExit('no such model')", ready=ready, ready_limit_s=1000))
    assert graph.end() == 1
    assert graph.errors.read_text() == "Decode-0 exited with code 1; its last line: no such model\n"


def test_a_command_that_does_not_exist_fails_the_graph_in_one_line(serve: Serve) -> None:
    missing = spec("Decode-0", "")
    graph = serve(spec("Prefill-0", POLITE), type(missing)("Decode-0", "Decode", 0, ("/nowhere/mooncake_master",)))
    assert graph.end() == 1
    error = graph.errors.read_text()
    assert error.startswith("Decode-0 cannot be started: ")
    assert "/nowhere/mooncake_master" in error
    assert error.count("\n") == 1


def test_a_death_is_told_with_its_last_lines_and_the_process_starts_again(serve: Serve, tmp_path: Path) -> None:
    graph = serve(spec("Decode-0", MORTAL, tmp_path / "lives", 1))
    died = graph.wait_for("died")
    assert died["last_lines"] == [f"line {at} of life 1" for at in range(10, 30)]
    assert died["message"] == "Decode-0 exited with code 7; its last lines:"
    graph.wait_until_said("alive", "Decode")
    started = [line["pid"] for line in graph.lines if line.get("event") == "started"]
    assert len(set(started)) == 2
    assert died["pid"] == started[0]
    graph.send(signal.SIGTERM)
    assert graph.end() == 0


def test_waits_grow_and_too_many_deaths_fail_the_graph(serve: Serve, tmp_path: Path) -> None:
    graph = serve(spec("Decode-0", MORTAL, tmp_path / "lives", 1000), spec("Frontend", POLITE))
    assert graph.end() == 1
    waits = [line["seconds"] for line in graph.lines if line.get("event") == "restarting"]
    assert waits == [0.01, 0.02, 0.02]
    assert graph.errors.read_text() == (
        "Decode-0 exited with code 7; its last line: line 29 of life 4 (after 3 restarts within 60 s)\n"
    )
    assert graph.events("stopped") == [("stopped", "Frontend")]


def test_a_process_whose_death_is_final_is_not_started_again(serve: Serve, tmp_path: Path) -> None:
    graph = serve(spec("Frontend", MORTAL, tmp_path / "lives", 1, restart="fail"))
    assert graph.end() == 1
    assert graph.events("started", "restarting") == [("started", "Frontend")]


def test_what_a_dead_process_left_behind_is_gone_before_it_starts_again(serve: Serve, tmp_path: Path) -> None:
    """A second life may need the port, the GPU or the file lock of the first one's children."""
    code = f"""
import os, socket, subprocess, sys, signal
server = socket.socket()
server.bind(("127.0.0.1", int(sys.argv[1])))  # no SO_REUSEADDR, and the child inherits it
server.listen()
os.set_inheritable(server.fileno(), True)
child = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\\nwhile True: signal.pause()"
subprocess.Popen([sys.executable, "-I", "-S", "-c", child], close_fds=False, start_new_session=True)
if not os.path.exists({str(tmp_path / "second")!r}):
    open({str(tmp_path / "second")!r}, "w")
    sys.exit(7)
print("second life", flush=True)
signal.pause()
"""
    graph = serve(spec("Decode-0", code, free_port()))
    graph.wait_until_said("second life", "Decode")
    graph.send(signal.SIGTERM)
    assert graph.end() == 0
    assert graph.events("died") == [("died", "Decode")]


@pytest.mark.parametrize("restart", ["backoff", "fail"])
def test_a_clean_exit_that_nobody_asked_for_is_a_death(serve: Serve, restart: str) -> None:
    graph = serve(spec("Decode-0", "print('done')", restart=restart))
    assert graph.end() == 1
    assert graph.errors.read_text().startswith("Decode-0 exited with code 0; its last line: done")


# Has shared memory as vLLM's ranks have it, and leaves it behind: argv[1]. Ends on SIGTERM where argv[2] says so.
LEAVING = """
import mmap, os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
file = os.open(sys.argv[1], os.O_CREAT | os.O_RDWR)
os.ftruncate(file, 4096)
memory = mmap.mmap(file, 4096)
print("mapped", flush=True)
signal.sigwait([signal.SIGTERM if sys.argv[2] == "polite" else signal.SIGUSR1])
"""


@pytest.mark.parametrize(("how", "code"), [("polite", 0), ("stubborn", 128 + signal.SIGTERM)])
def test_shared_memory_that_a_process_leaves_goes_with_it(serve: Serve, how: str, code: int) -> None:
    path = Path("/dev/shm", f"vllm_dist_{uuid.uuid4().hex}")  # noqa: S108 - it is what is tested
    graph = serve(spec("Decode-0", LEAVING, path, how, drain_limit_s=0.2))
    graph.wait_until_said("mapped", "Decode")
    assert path.exists()
    graph.send(signal.SIGTERM)
    assert graph.end() == code
    assert not path.exists()


# Says in its first life that nobody finds it, and ends on SIGTERM only.
LOST = """
import signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
with open(sys.argv[1], "a") as file:
    file.write("x")
    life = file.tell()
print("keep_alive failed" if life == 1 else "alive", flush=True)
signal.sigwait([signal.SIGTERM])
if life > 1:
    print("keep_alive failed", flush=True)
"""


def test_a_process_that_nobody_finds_any_more_is_started_anew(serve: Serve, tmp_path: Path) -> None:
    graph = serve(spec("Decode-0", LOST, tmp_path / "lives", lost="keep_alive failed"))
    lost = graph.wait_for("lost")
    assert lost["message"] == "Decode-0 is not found by others any more, and is started anew"
    graph.wait_until_said("alive", "Decode")
    graph.send(signal.SIGTERM)
    assert graph.end() == 0
    # What it says of that when it is told to stop is no news.
    assert graph.events("lost") == [("lost", "Decode")]


def test_a_process_that_does_not_say_so_by_its_plan_is_left_alone(serve: Serve, tmp_path: Path) -> None:
    graph = serve(spec("Decode-0", LOST, tmp_path / "lives"))
    graph.wait_until_said("keep_alive failed", "Decode")
    graph.send(signal.SIGTERM)
    assert graph.end() == 0
    assert graph.events("started", "lost") == [("started", "Decode")]
