"""What things weigh: the process, and what hangs on one object."""

import gc
import os
import sys
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

_PAGE = os.sysconf("SC_PAGE_SIZE")


def resident() -> int:
    """Return the bytes of this process that are in memory: the second field of proc(5)'s ``statm``."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE


def weight(root: Any) -> int:
    """Return the bytes of an object and of all that it refers to, each object once; code is no part of it.

    What the allocator adds is not in it, nor what compiled code holds.
    """
    seen: set[int] = set()
    total, found = 0, [root]
    while found:
        each = found.pop()
        if id(each) in seen or isinstance(each, type | FunctionType | ModuleType):
            continue
        seen.add(id(each))
        total += sys.getsizeof(each)
        found += gc.get_referents(each)
        if isinstance(each, dict):
            # The collector passes over keys that are text.
            found += each
    return total
