import subprocess
import sys
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path

import psutil
import pytest

from graphs.supervisor import guard
from graphs.supervisor.lifeline import COMMAND
from tests.graphs.supervisor.harness import STUBBORN, until

# Starts one program in a session of its own without any environment, then waits.
PARENT = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, "-I", "-S", "-c", {STUBBORN!r}], start_new_session=True, env={{}})
print(child.pid, flush=True)
child.wait()
"""


@pytest.fixture
def graph_id() -> str:
    return uuid.uuid4().hex


@pytest.fixture
def parent(graph_id: str) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A process of the graph, and the id of its child."""
    env = {guard.VARIABLE: f"{graph_id}/Decode-0"}
    command = [sys.executable, "-I", "-S", "-c", PARENT]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True, env=env) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        yield process, child
        guard.sweep({process.pid, child}, guard.mark(graph_id))


def guarding(folder: Path) -> dict[str, str]:
    """The environment of a guard of no graph and this folder."""
    return {guard.GUARDED_GRAPH: uuid.uuid4().hex, guard.GUARDED_FOLDER: str(folder)}


def gone(pid: int) -> bool:
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_members_are_found_by_mark_and_their_descendants_with_them(
    graph_id: str, parent: tuple[subprocess.Popen[bytes], int]
) -> None:
    process, child = parent
    assert guard.members(set(), guard.mark(graph_id)) == {process.pid, child}
    assert guard.members(set(), guard.mark(graph_id, "Decode-0")) == {process.pid, child}
    assert guard.members(set(), guard.mark(graph_id, "Decode")) == set()
    assert guard.members(set(), guard.mark(uuid.uuid4().hex)) == set()


def test_members_are_found_by_session(parent: tuple[subprocess.Popen[bytes], int]) -> None:
    process, child = parent
    other = guard.mark(uuid.uuid4().hex)
    assert guard.members({process.pid}, other) == {process.pid, child}
    assert guard.members({child}, other) == {child}


def test_a_sweep_ends_when_all_are_dead(graph_id: str, parent: tuple[subprocess.Popen[bytes], int]) -> None:
    process, child = parent
    assert guard.sweep(set(), guard.mark(graph_id)) == set()
    # What was killed may take a moment to die, and nothing tells whose it was once its parent is dead.
    until(lambda: gone(process.pid) and gone(child))


def test_the_cleaner_of_shared_memory_may_finish_before_it_is_killed(graph_id: str) -> None:
    name = f"supervisor-test-{graph_id}"
    program = f"""
import sys, time
from multiprocessing import shared_memory
shared_memory.SharedMemory({name!r}, create=True, size=16)
print("made", flush=True)
time.sleep(1000)
"""
    env = {guard.VARIABLE: f"{graph_id}/Decode-0"}
    command = [sys.executable, "-c", program]
    segment = Path("/dev/shm", name)  # noqa: S108 - where the kernel shows it
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert segment.exists()
        assert guard.sweep(set(), guard.mark(graph_id)) == set()
    assert not segment.exists()


def test_the_guard_does_not_clean_up_what_the_supervisor_saw_end(
    parent: tuple[subprocess.Popen[bytes], int], tmp_path: Path
) -> None:
    process, _ = parent
    folder = tmp_path / "run"
    folder.mkdir()
    subprocess.run(COMMAND, input=f"+{process.pid}\n-{process.pid}\n".encode(), check=True, env=guarding(folder))
    assert process.poll() is None
    assert not folder.exists()


def test_the_guard_kills_the_sessions_it_was_told_of(
    parent: tuple[subprocess.Popen[bytes], int], tmp_path: Path
) -> None:
    process, child = parent
    subprocess.run(COMMAND, input=f"+{process.pid}\n".encode(), check=True, env=guarding(tmp_path / "none"))
    until(lambda: gone(process.pid) and gone(child))


@pytest.mark.parametrize("number", [1, 2, 15])
def test_the_guard_stays_when_it_is_told_to_go(number: int, tmp_path: Path) -> None:
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, bufsize=0, env=guarding(tmp_path / "none")) as process:
        assert process.stdin is not None
        until(lambda: ignores(process.pid, number))
        process.send_signal(number)
        process.stdin.write(b"+1073741824\n")
        assert process.poll() is None
        process.stdin.close()
        assert process.wait() == 0


def ignores(pid: int, number: int) -> bool:
    """Whether the process ignores a signal, as `SigIgn` of proc(5) says it."""
    status = Path(f"/proc/{pid}/status").read_text().split("SigIgn:")[1].split()[0]
    return bool(int(status, 16) >> (number - 1) & 1)


# Maps shared memory as an engine's inner process does, without Python's cleaner, and waits.
SHARING = """
import mmap, os, sys, time
for name in sys.argv[1:]:
    file = os.open(name, os.O_CREAT | os.O_RDWR)
    os.ftruncate(file, 4096)
    globals()[name] = mmap.mmap(file, 4096)
print(flush=True)
time.sleep(600)
"""


@pytest.fixture
def names() -> Iterator[dict[str, Path]]:
    """Shared memory of Python, of vLLM, of another program."""
    unique = uuid.uuid4().hex
    paths = {name: Path("/dev/shm", f"{name}_{unique}") for name in ("psm", "vllm_dist", "weights")}  # noqa: S108 - it is what is tested
    yield paths
    for path in paths.values():
        path.unlink(missing_ok=True)


def sharing(graph_id: str, paths: Iterable[Path]) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-I", "-S", "-c", SHARING, *map(str, paths)]
    env = {guard.VARIABLE: f"{graph_id}/Decode-0"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True, env=env)
    assert process.stdout is not None
    process.stdout.readline()
    return process


def test_shared_memory_of_killed_members_goes_with_them_and_no_other(graph_id: str, names: dict[str, Path]) -> None:
    with sharing(graph_id, names.values()) as process:
        guard.sweep({process.pid}, guard.mark(graph_id))
    assert [name for name, path in names.items() if path.exists()] == ["weights"]


def test_shared_memory_that_another_process_has_stays(graph_id: str, names: dict[str, Path]) -> None:
    other = uuid.uuid4().hex
    with sharing(other, [names["psm"]]) as stranger:
        with sharing(graph_id, [names["psm"], names["vllm_dist"]]) as process:
            guard.sweep({process.pid}, guard.mark(graph_id))
        assert [name for name, path in names.items() if path.exists()] == ["psm"]
        guard.sweep({stranger.pid}, guard.mark(other))
    assert not names["psm"].exists()


def test_shared_memory_of_those_who_ended_by_themselves_is_removed_when_it_is_named(
    graph_id: str, names: dict[str, Path]
) -> None:
    with sharing(graph_id, [names["vllm_dist"]]) as process:
        held = guard.shared_memory({process.pid})
        process.kill()
    assert held == {bytes(names["vllm_dist"])}
    guard.sweep({process.pid}, guard.mark(graph_id), shared=held)
    assert not names["vllm_dist"].exists()
