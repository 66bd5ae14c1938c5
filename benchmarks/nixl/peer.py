"""Two NIXL agents, ours and one in a process of its own, and transfers from its memory to ours (DRAM, UCX)."""

import multiprocessing
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

import msgspec
import numpy as np

from benchmarks.nixl.cases import Case
from benchmarks.nixl.memory import Memory, NixlError, check_room, load
from benchmarks.nixl.pieces import Blocks, block_tables, fill, pieces, wrong_words

_START_S: Final = 60.0
_LOCAL: Final = "NIXL_INIT_AGENT"


class Times(msgspec.Struct, frozen=True):
    """One transfer.

    Attributes:
        make_ms: Building the request, and merging neighbours.
        post_ms: Handing it over, which the caller waits for.
        total_ms: From handing it over until the bytes are there.
        posted: Pieces left after merging, by NIXL's own count.
    """

    make_ms: float
    post_ms: float
    total_ms: float
    posted: int


def _serve(pipe: Connection, pool_bytes: int) -> None:
    # Ctrl-C reaches this process too; the pipe's end says the same without a traceback.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    memory = Memory("prefill", pool_bytes)
    fill(memory.pool)
    pipe.send((memory.agent.get_agent_metadata(), memory.base))
    try:
        pipe.recv()
    except EOFError:
        pass
    finally:
        memory.close()


class Transfer:
    """One case, ready to be moved again and again.

    Args:
        memory: Ours.
        remote: Name of the other agent.
        remote_base: Address of its pool.
        case: What to move.
    """

    def __init__(self, memory: Memory, remote: str, remote_base: int, case: Case) -> None:
        self._memory, self._case = memory, case
        self._regions = case.moved.regions(case.pool_blocks)
        self._here: Blocks
        self._there: Blocks
        self._here, self._there = block_tables(case)
        prepare = memory.agent.prep_xfer_dlist
        self._local = prepare(_LOCAL, pieces(self._regions, self._here, memory.base), "DRAM")
        self._remote = prepare(remote, pieces(self._regions, self._there, remote_base), "DRAM")
        self._all = np.arange(case.pieces, dtype=np.int32)

    def move(self) -> Times:
        """Pull the request's KV once.

        Raises:
            NixlError: NIXL reports an error.
        """
        agent = self._memory.agent
        begun = time.perf_counter()
        # As vLLM calls it: neighbours are merged, which is NIXL's default.
        handle = agent.make_prepped_xfer("READ", self._local, self._all, self._remote, self._all, b"")
        made = time.perf_counter()
        state = agent.transfer(handle)
        posted = time.perf_counter()
        while state == "PROC":
            os.sched_yield()
            state = agent.check_xfer_state(handle)
        done = time.perf_counter()
        if state != "DONE":
            raise NixlError(f"{self._case.name}: NIXL ended the transfer with {state}")
        count = int(agent.get_xfer_telemetry(handle).descCount)
        agent.release_xfer_handle(handle)
        return Times((made - begun) * 1e3, (posted - made) * 1e3, (done - made) * 1e3, count)

    def check(self) -> None:
        """Empty the pool, move, and look at every word.

        Raises:
            NixlError: A word is not what the other pool has there.
        """
        self._memory.pool[:] = 0
        self.move()
        if wrong := wrong_words(self._memory.pool, self._regions, self._here, self._there):
            raise NixlError(f"{self._case.name}: {wrong:,} words arrived wrong")

    def close(self) -> None:
        """Give the lists of pieces back to NIXL."""
        self._memory.agent.release_dlist_handle(self._local)
        self._memory.agent.release_dlist_handle(self._remote)


class Link:
    """Our end, connected.

    Args:
        memory: Ours.
        metadata: What the other agent says of itself.
        remote_base: Address of its pool.
    """

    def __init__(self, memory: Memory, metadata: bytes, remote_base: int) -> None:
        self._memory, self._remote_base = memory, remote_base
        name = memory.agent.add_remote_agent(metadata)
        self._remote = name.decode() if isinstance(name, bytes) else str(name)

    @contextmanager
    def transfer(self, case: Case) -> Iterator[Transfer]:
        """Prepare a case."""
        ready = Transfer(self._memory, self._remote, self._remote_base, case)
        try:
            yield ready
        finally:
            ready.close()


@contextmanager
def link(pool_bytes: int) -> Iterator[Link]:
    """Start the other process and connect to it; it ends with the block, or with us.

    Args:
        pool_bytes: Size of the pool at each end.

    Raises:
        NixlError: NIXL is not installed, memory is short, or the other process does not come up.
    """
    load()
    check_room(2 * pool_bytes, Path("/proc/meminfo").read_text())
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, pool_bytes), daemon=True)
    process.start()
    theirs.close()
    try:
        memory = Memory("decode", pool_bytes)
        try:
            if not ours.poll(_START_S):
                raise NixlError(f"the other process is not up after {_START_S:.0f} s")
            yield Link(memory, *ours.recv())
        except EOFError as error:
            raise NixlError("the other process died") from error
        finally:
            memory.close()
    finally:
        ours.close()
        process.join(10)
        process.kill()
        process.join()
