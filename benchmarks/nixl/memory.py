"""One NIXL agent and the memory it may move."""

import importlib
import os
import re
from typing import Any, Final

import numpy as np

from benchmarks.nixl.pieces import Words

VERSION: Final = "1.4.1"
"""Of NIXL, as vLLM 0.31.0 and Dynamo 1.6.1 run it."""

THREADS: Final = 4
"""UCX threads of an agent: vLLM's default (`num_threads` of the connector's extra configuration)."""

_ALIGNMENT: Final = 4096


class NixlError(Exception):
    """NIXL is missing, memory is short, or a transfer failed."""


def load() -> Any:
    """Import NIXL.

    Raises:
        NixlError: It is not installed.
    """
    os.environ.setdefault("NIXL_LOG_LEVEL", "WARN")
    try:
        return importlib.import_module("nixl_cu12._api")
    except ImportError as error:
        raise NixlError(
            f"NIXL is not installed here ({error}): run this in the engines' environment, .venv-engines, "
            f"or in one with `pip install nixl-cu12=={VERSION} nixl=={VERSION} numpy msgspec`"
        ) from error


def check_room(needed_bytes: int, meminfo: str) -> None:
    """Check that the pools fit.

    Args:
        needed_bytes: What they take together.
        meminfo: The text of Linux's ``/proc/meminfo``.

    Raises:
        NixlError: They do not.
    """
    found = re.search(r"^MemAvailable:\s+(\d+) kB", meminfo, re.MULTILINE)
    if found and (free := int(found[1]) * 1024) < needed_bytes:
        raise NixlError(
            f"the two pools take {needed_bytes / 1e9:.1f} GB and {free / 1e9:.1f} are free: take a larger --scale"
        )


class Memory:
    """An agent and its registered pool.

    Args:
        name: The agent's.
        pool_bytes: Size of the pool.

    Attributes:
        agent: NIXL's.
        pool: The pool's words.
    """

    def __init__(self, name: str, pool_bytes: int) -> None:
        api = load()
        config = api.nixl_agent_config(num_threads=THREADS, capture_telemetry=True, backends=["UCX"])
        self.agent: Any = api.nixl_agent(name, config)
        self._buffer = np.zeros(pool_bytes + _ALIGNMENT, dtype=np.uint8)
        skip = -self._buffer.ctypes.data % _ALIGNMENT
        self.pool: Words = self._buffer[skip : skip + pool_bytes].view(np.uint32)
        self._registered = self.agent.register_memory([(self.base, pool_bytes, 0, "")], "DRAM")

    @property
    def base(self) -> int:
        """Address of the pool."""
        return self.pool.ctypes.data

    def close(self) -> None:
        """Give the memory back to NIXL."""
        self.agent.deregister_memory(self._registered)
