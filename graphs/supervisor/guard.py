"""The last to leave: a process that kills what is left of a graph once the supervisor is gone, however it went.

Its standard input is a pipe that only the supervisor holds. Lines `+SESSION` and `-SESSION` name the sessions that the
supervisor opened and saw end. The end of the pipe means that the supervisor has ended: normally, by a fault, or by
`kill -9`. Then every process of the graph is killed and the run's folder is removed: all ways out clean up by the same
code. Graph and folder are named in the guard's environment and not in its command line, so that a `pkill -f` that is
meant for the graph spares it.

A process belongs to the graph when its first environment holds the graph's mark, `DYNAMO_GRAPH_ID=GRAPH_ID/NAME`, or
its session is one of the graph's, or its parent belongs to it. The mark finds what left its session; the session finds
what overwrote its environment (setproctitle does, and vLLM uses it). What does both and has lost its parent is not
found.

Engines that are killed leave shared memory behind, some 200 MB each, and vLLM's tensor-parallel ranks on CPU do even if
they end by themselves. What members of the graph had mapped goes with them, by the names that Python and vLLM give;
nothing else in `/dev/shm` is touched, and nothing that another process has mapped.

A child that is forked but has not called exec holds the pipe too, and exec closes it: when the pipe ends, each child
has its own environment. The file needs only the standard library and runs with `-I -S`, so that it starts in 20 ms.
"""

import contextlib
import math
import os
import signal
import sys
import time
from collections.abc import Iterable
from pathlib import Path

VARIABLE = "DYNAMO_GRAPH_ID"
GUARDED_GRAPH = "GUARDED_GRAPH_ID"
GUARDED_FOLDER = "GUARDED_FOLDER"
# Python's own cleaner of shared memory and semaphores ends by itself, just after those it cleans for.
_TRACKER = b"multiprocessing.resource_tracker"
_TRACKER_LIMIT_S = 1.0
_SHARED = (b"/dev/shm/psm_", b"/dev/shm/vllm_dist_")


def mark(graph_id: str, name: str = "") -> bytes:
    """What the environment of one process of a graph holds, or, without a name, of every one."""
    return f"{VARIABLE}={graph_id}/".encode() + (name.encode() + b"\0" if name else b"")


def members(sessions: Iterable[int], mark: bytes) -> set[int]:
    """Ids of the living processes with one of these sessions or this mark, and of their descendants."""
    sessions = frozenset(sessions)
    table = dict(_living())
    found = {pid for pid, (_, session) in table.items() if session in sessions or mark in _read(pid, "environ")}
    while more := {pid for pid, (parent, _) in table.items() if parent in found} - found:
        found |= more
    return found - {os.getpid()}


def sweep(sessions: Iterable[int], mark: bytes, *, limit_s: float = math.inf, shared: Iterable[bytes] = ()) -> set[int]:
    """Kill the `members` until there is none, and return those that the kernel could not end within the limit.

    Args:
        sessions: Their sessions.
        mark: In their environment.
        limit_s: Longest time to try, in s.
        shared: Shared memory (`shared_memory`) that those had who have ended already, to be removed as well.
    """
    sessions, shared = frozenset(sessions), set(shared)
    started = time.monotonic()
    pause_s = 0.002
    # The second look finds what was forked by a process that ended during the first.
    while found := members(sessions, mark) or members(sessions, mark):
        if (spent_s := time.monotonic() - started) > limit_s:
            return found
        shared |= shared_memory(found)
        for pid in found:
            if spent_s > _TRACKER_LIMIT_S or _TRACKER not in _read(pid, "cmdline"):
                _kill(pid)
        time.sleep(pause_s)
        pause_s = min(2 * pause_s, 0.5)
    _remove(shared)
    return set()


def shared_memory(pids: Iterable[int]) -> set[bytes]:
    """Paths of the shared memory that these processes have mapped, if Python or vLLM named it."""
    return {path for pid in pids for path in _mapped(pid) if path.startswith(_SHARED)}


def _remove(paths: set[bytes]) -> None:
    if not paths:
        return
    elsewhere = shared_memory(pid for pid, _ in _living())
    for path in paths - elsewhere:
        with contextlib.suppress(OSError):  # Its owner was faster.
            os.unlink(path)  # noqa: PTH108 - pathlib takes no bytes, and these need not be UTF-8


def _mapped(pid: int) -> Iterable[bytes]:
    # proc(5): address, permissions, offset, device, inode, and the path, which may hold blanks.
    for line in _read(pid, "maps").splitlines():
        yield line.split(maxsplit=5)[-1]


def _living() -> Iterable[tuple[int, tuple[int, int]]]:
    """Each process that is not a zombie: its id, its parent's, its session's."""
    for entry in os.listdir("/proc"):  # noqa: PTH208 - pathlib would make an object of each entry of /proc, per scan
        if entry.isdigit() and (stat := _read(int(entry), "stat")):
            # The name, in parentheses, may hold anything, parentheses too; proc(5) gives the fields after it.
            state, parent, _, session, *_ = stat[stat.rindex(b")") + 2 :].split(b" ", 4)
            if state not in (b"Z", b"X"):
                yield int(entry), (int(parent), int(session))


def _read(pid: int, name: str) -> bytes:
    try:
        return Path("/proc", str(pid), name).read_bytes()
    except OSError:  # It ended, or it is another user's.
        return b""


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def main() -> None:
    """Follow the supervisor on standard input; when it is gone, clean up."""
    graph_id, folder = os.environ[GUARDED_GRAPH], os.environ[GUARDED_FOLDER]
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sessions: set[int] = set()
    for line in sys.stdin:
        change = sessions.add if line.startswith("+") else sessions.discard
        change(int(line[1:]))
    sweep(sessions, mark(graph_id))
    import shutil  # noqa: PLC0415 - twice the start-up time, for the last moment only

    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
